/**
 * Decodes one function body into flat arrays.
 *
 * 1. Every index and label is checked against the module, every construct is closed: what follows may rely on
 *    it, and code that is added later (globals, functions, locals behind the last ones) cannot be reached from
 *    the code that was there.
 * 2. Work is linear in the bytes of the body; nothing recurses.
 * 3. Operand types are not checked: that is the engine's validation.
 */
import { ByteReader } from './byte-reader.ts'
import type { CodeContext } from './code-context.ts'
import type { Opcode } from './cost.ts'
import { IntList } from './int-list.ts'
import type { FunctionBody } from './module.ts'
import { invalidModule, unsupportedFeature } from './module-error.ts'
import {
  featureOf,
  IMMEDIATE,
  immediateOf,
  OP,
  opcodeRow,
  refusedFeature,
  stackDelta,
} from './opcode-table.ts'
import { isTypedReference, readHeapType, readValueType } from './value-type.ts'

/** Block type of a block without parameters and results, in `DecodedBody.first`. */
export const BLOCK_EMPTY = -1
/** Block type of a block without parameters and with one result. Others are type indices. */
const BLOCK_VALUE = -2

/** The limit that engines put on locals, parameters included. */
const MAX_LOCALS = 50_000

/**
 * The instructions of one body. A decoder fills the same object again and again: what is in it is valid until
 * the next `decodeBody` into it.
 *
 * `first` and `second` hold immediates in the order of the binary format: function, type, local, global, label,
 * block type, tag; `type, table`; `data, memory`; `element, table`; destination and source. For `br_table` they
 * are an offset into `pool` and the number of labels there, default last; for `try_table` the block type and an
 * offset into `pool`, where the number of clauses is followed by kind, tag and label of each.
 */
export class DecodedBody {
  readonly opcodes: IntList = new IntList()
  /** Where each instruction begins in `bytes`; one more entry for the end. */
  readonly starts: IntList = new IntList()
  readonly first: IntList = new IntList()
  readonly second: IntList = new IntList()
  readonly pool: IntList = new IntList()
  bytes: Uint8Array = new Uint8Array(0)
  functionIndex = 0
  typeIndex = 0
  /** Parameters and locals. */
  locals = 0
  /** The greatest height of the operand stack, an upper bound in unreachable code. */
  maxStack = 0
  /** One bit per entry of `FEATURES`. */
  features = 0

  /** Number of instructions. */
  get length(): number {
    return this.opcodes.length
  }

  reset(bytes: Uint8Array, functionIndex: number, typeIndex: number): void {
    for (const list of [this.opcodes, this.starts, this.first, this.second, this.pool]) list.length = 0
    this.bytes = bytes
    this.functionIndex = functionIndex
    this.typeIndex = typeIndex
    this.locals = 0
    this.maxStack = 0
    this.features = 0
  }
}

const MULTI_MEMORY_BIT = 0x40

/** Reads the next opcode, prefix included. */
export function readOpcode(reader: ByteReader): Opcode {
  const byte = reader.byte()
  if (byte < 0xfb || byte > 0xfe) return byte
  const sub = reader.u32()
  return sub < 0x1000 ? (byte << 12) | sub : (byte << 12) | 0xfff
}

/** The error for an opcode that is unknown or not metered. */
export function opcodeError(opcode: Opcode, offset: number, functionIndex?: number): Error {
  const feature = refusedFeature(opcode)
  if (feature !== undefined) return unsupportedFeature(feature, offset, functionIndex)
  return invalidModule(`Unknown instruction 0x${opcode.toString(16)}`, offset)
}

/** Tracks open constructs: their kinds, their base heights and their types. */
class ControlStack {
  readonly kinds: IntList = new IntList()
  readonly bases: IntList = new IntList()
  readonly params: IntList = new IntList()
  readonly results: IntList = new IntList()

  get depth(): number {
    return this.kinds.length
  }

  push(kind: number, base: number, params: number, results: number): void {
    this.kinds.push(kind)
    this.bases.push(base)
    this.params.push(params)
    this.results.push(results)
  }

  pop(): void {
    this.kinds.length--
    this.bases.length--
    this.params.length--
    this.results.length--
  }
}

/** Kinds on the control stack are opcodes: of the construct, or of its latest clause. */
const FUNCTION = OP.nop

/** Decodes `body`, the function `functionIndex` (imports counted), into `into`. */
export function decodeBody(
  context: CodeContext,
  body: FunctionBody,
  functionIndex: number,
  into: DecodedBody,
): void {
  const typeIndex = context.functions[functionIndex] as number
  const type = context.types[typeIndex]
  if (type === undefined) throw invalidModule(`Function ${functionIndex} has no type`, body.offset)
  const reader = new ByteReader(body.bytes, 0, body.bytes.length, body.offset)
  into.reset(body.bytes, functionIndex, typeIndex)
  into.locals = type.params.length + readLocals(reader, context)
  if (into.locals > MAX_LOCALS) throw invalidModule('Too many locals', body.offset)
  new BodyDecoder(context, reader, into).run(type.params.length, type.results.length)
}

function readLocals(reader: ByteReader, context: CodeContext): number {
  let total = 0
  const groups = reader.count(2)
  for (let group = 0; group < groups; group++) {
    total += reader.u32()
    readValueType(reader, context.types.length)
  }
  return total
}

class BodyDecoder {
  readonly #context: CodeContext
  readonly #reader: ByteReader
  readonly #into: DecodedBody
  readonly #control: ControlStack = new ControlStack()
  #height = 0
  #opcodeOffset = 0
  #params = 0
  #results = 0

  constructor(context: CodeContext, reader: ByteReader, into: DecodedBody) {
    this.#context = context
    this.#reader = reader
    this.#into = into
  }

  run(params: number, results: number): void {
    const reader = this.#reader
    const into = this.#into
    this.#control.push(FUNCTION, 0, params, results)
    while (this.#control.depth > 0) {
      this.#opcodeOffset = reader.offset
      const start = reader.position
      const opcode = readOpcode(reader)
      const row = opcodeRow(opcode)
      const immediate = immediateOf(row)
      if (immediate === undefined) {
        throw opcodeError(opcode, this.#opcodeOffset, into.functionIndex)
      }
      into.features |= 1 << featureOf(row)
      into.starts.push(start)
      into.opcodes.push(opcode)
      let first = 0
      let second = 0
      switch (immediate) {
        case IMMEDIATE.none:
          break
        case IMMEDIATE.local:
          first = this.#index(into.locals, 'local')
          break
        case IMMEDIATE.i32:
          first = reader.s32()
          break
        case IMMEDIATE.memarg:
          first = this.#memarg()
          break
        case IMMEDIATE.memargLane:
          first = this.#memarg()
          reader.byte()
          break
        case IMMEDIATE.label:
          first = this.#index(this.#control.depth, 'label')
          break
        case IMMEDIATE.labels:
          first = into.pool.length
          second = this.#labels()
          break
        case IMMEDIATE.block:
          first = this.#blockType()
          break
        case IMMEDIATE.function:
          first = this.#index(this.#context.functions.length, 'function')
          break
        case IMMEDIATE.global:
          first = this.#index(this.#context.globals, 'global')
          break
        case IMMEDIATE.i64:
          reader.skipS64()
          break
        case IMMEDIATE.f32:
          reader.skip(4)
          break
        case IMMEDIATE.f64:
          reader.skip(8)
          break
        case IMMEDIATE.bytes16:
          reader.skip(16)
          break
        case IMMEDIATE.lane:
          reader.byte()
          break
        case IMMEDIATE.type:
          first = this.#index(this.#context.types.length, 'type')
          break
        case IMMEDIATE.typeTable:
          first = this.#index(this.#context.types.length, 'type')
          second = this.#index(this.#context.tables.length, 'table')
          break
        case IMMEDIATE.table:
          first = this.#index(this.#context.tables.length, 'table')
          break
        case IMMEDIATE.tables:
          first = this.#index(this.#context.tables.length, 'table')
          second = this.#index(this.#context.tables.length, 'table')
          break
        case IMMEDIATE.memory:
          first = this.#index(this.#context.memories.length, 'memory')
          break
        case IMMEDIATE.memories:
          first = this.#index(this.#context.memories.length, 'memory')
          second = this.#index(this.#context.memories.length, 'memory')
          break
        case IMMEDIATE.tag:
          first = this.#index(this.#context.tags.length, 'tag')
          break
        case IMMEDIATE.data:
          first = this.#index(this.#context.data, 'data segment')
          break
        case IMMEDIATE.dataMemory:
          first = this.#index(this.#context.data, 'data segment')
          second = this.#index(this.#context.memories.length, 'memory')
          break
        case IMMEDIATE.element:
          first = this.#index(this.#context.elements, 'element segment')
          break
        case IMMEDIATE.elementTable:
          first = this.#index(this.#context.elements, 'element segment')
          second = this.#index(this.#context.tables.length, 'table')
          break
        case IMMEDIATE.heapType:
          readHeapType(reader, this.#context.types.length)
          break
        case IMMEDIATE.valueTypes:
          if (reader.count() !== 1) throw invalidModule('select takes one type', this.#opcodeOffset)
          readValueType(reader, this.#context.types.length)
          break
        case IMMEDIATE.tryTable:
          first = this.#blockType()
          second = into.pool.length
          this.#catchClauses()
          break
        case IMMEDIATE.zero:
          if (reader.byte() !== 0) throw invalidModule('A reserved byte is not zero', this.#opcodeOffset)
          break
      }
      into.first.push(first)
      into.second.push(second)
      if (opcode < 0x20 && opcode !== OP.drop) this.#structure(opcode, first)
      else this.#adjust(stackDelta(row))
    }
    into.starts.push(reader.position)
    if (!reader.done) throw invalidModule('A function goes on after its end', reader.offset)
  }

  #index(limit: number, what: string): number {
    const offset = this.#reader.offset
    const index = this.#reader.u32()
    if (index >= limit) throw invalidModule(`There is no ${what} ${index}`, offset)
    return index
  }

  #memarg(): number {
    const align = this.#reader.u32()
    let memory = 0
    if (align >= MULTI_MEMORY_BIT * 2) throw invalidModule('Alignment too large', this.#opcodeOffset)
    if ((align & MULTI_MEMORY_BIT) !== 0) memory = this.#reader.u32()
    if (memory >= this.#context.memories.length) {
      throw invalidModule(`There is no memory ${memory}`, this.#opcodeOffset)
    }
    this.#reader.u64()
    return memory
  }

  #labels(): number {
    const count = this.#reader.count()
    for (let label = 0; label <= count; label++) {
      this.#into.pool.push(this.#index(this.#control.depth, 'label'))
    }
    return count + 1
  }

  #blockType(): number {
    const reader = this.#reader
    const offset = reader.offset
    const position = reader.position
    const value = reader.s33()
    this.#params = 0
    this.#results = 0
    if (value === -0x40) return BLOCK_EMPTY
    if (value < 0) {
      reader.position = position
      if (isTypedReference(readValueType(reader, this.#context.types.length))) {
        this.#into.features |= 1 << featureOf(opcodeRow(OP.refAsNonNull))
      }
      this.#results = 1
      return BLOCK_VALUE
    }
    const type = this.#context.types[value]
    if (type === undefined) throw invalidModule(`There is no type ${value}`, offset)
    this.#params = type.params.length
    this.#results = type.results.length
    return value
  }

  #catchClauses(): void {
    const count = this.#reader.count(2)
    this.#into.pool.push(count)
    for (let clause = 0; clause < count; clause++) {
      const kind = this.#reader.byte()
      if (kind > 3) throw invalidModule('Unknown kind of catch clause', this.#reader.offset - 1)
      this.#into.pool.push(kind)
      this.#into.pool.push(kind < 2 ? this.#index(this.#context.tags.length, 'tag') : 0)
      this.#into.pool.push(this.#index(this.#control.depth, 'label'))
    }
  }

  /** Moves the height, never below the base of the open construct: code behind a branch pops at will. */
  #adjust(delta: number): void {
    const base = this.#control.bases.top()
    const height = this.#height + delta
    this.#height = Math.max(height, base)
    if (this.#height > this.#into.maxStack) this.#into.maxStack = this.#height
  }

  #unreachable(): void {
    this.#height = this.#control.bases.top()
  }

  #call(typeIndex: number): void {
    const type = this.#context.types[typeIndex]
    if (type === undefined) throw invalidModule(`There is no type ${typeIndex}`, this.#opcodeOffset)
    this.#adjust(-type.params.length)
    this.#adjust(type.results.length)
  }

  #tagParams(tag: number): number {
    return this.#context.types[this.#context.tags[tag] as number]?.params.length ?? 0
  }

  #open(opcode: Opcode): void {
    this.#adjust(-this.#params)
    this.#control.push(opcode, this.#height, this.#params, this.#results)
    this.#adjust(this.#params)
  }

  /** Begins another clause of the open construct, whose latest clause must be one of `after`. */
  #clause(opcode: Opcode, after: readonly number[], height: number): void {
    const control = this.#control
    if (!after.includes(control.kinds.top())) {
      throw invalidModule('A clause stands outside of its construct', this.#opcodeOffset)
    }
    control.kinds.items[control.depth - 1] = opcode
    this.#height = control.bases.top()
    this.#adjust(height)
  }

  #close(): void {
    const results = this.#control.results.top()
    this.#height = this.#control.bases.top()
    this.#control.pop()
    if (this.#control.depth > 0) this.#adjust(results)
  }

  #structure(opcode: Opcode, first: number): void {
    const control = this.#control
    switch (opcode) {
      case OP.block:
      case OP.loop:
      case OP.try:
      case OP.tryTable:
        this.#open(opcode)
        break
      case OP.if:
        this.#adjust(-1)
        this.#open(opcode)
        break
      case OP.else:
        this.#clause(opcode, [OP.if], control.params.top())
        break
      case OP.catch:
        this.#clause(opcode, [OP.try, OP.catch], this.#tagParams(first))
        break
      case OP.catchAll:
        this.#clause(opcode, [OP.try, OP.catch], 0)
        break
      case OP.delegate:
        if (control.kinds.top() !== OP.try || first >= control.depth - 1) {
          throw invalidModule('delegate outside of try, or without a target', this.#opcodeOffset)
        }
        this.#close()
        break
      case OP.end:
        this.#close()
        break
      case OP.rethrow: {
        const kind = control.kinds.at(control.depth - 1 - first)
        if (kind !== OP.catch && kind !== OP.catchAll) {
          throw invalidModule('rethrow outside of catch', this.#opcodeOffset)
        }
        this.#unreachable()
        break
      }
      case OP.brIf:
        this.#adjust(-1)
        break
      case OP.unreachable:
      case OP.throw:
      case OP.throwRef:
      case OP.br:
      case OP.brTable:
      case OP.return:
      case OP.returnCall:
      case OP.returnCallIndirect:
      case OP.returnCallRef:
        this.#unreachable()
        break
      case OP.call:
        this.#call(this.#context.functions[first] as number)
        break
      case OP.callIndirect:
      case OP.callRef:
        this.#adjust(-1)
        this.#call(first)
        break
      default:
        this.#adjust(stackDelta(opcodeRow(opcode)))
    }
  }
}
