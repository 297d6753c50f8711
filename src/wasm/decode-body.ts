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
import { type BlockArity, ConstructStack } from './construct-stack.ts'
import type { Opcode } from './cost.ts'
import { BLOCK_EMPTY, BLOCK_VALUE, type DecodedBody } from './decoded-body.ts'
import type { FunctionBody, FunctionType } from './module.ts'
import { invalidModule, unsupportedFeature } from './module-error.ts'
import { featureOf, IMMEDIATE, immediateOf, OP, opcodeRow, refusedFeature } from './opcode-table.ts'
import { isTypedReference, readHeapType, readValueType } from './value-type.ts'

/** The limit that engines put on locals, parameters included. */
const MAX_LOCALS = 50_000

const MULTI_MEMORY_BIT = 0x40

const NO_OPERANDS: BlockArity = { params: 0, results: 0 }
const ONE_RESULT: BlockArity = { params: 0, results: 1 }

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
  new BodyDecoder(context, type, reader, into).run()
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

function arityOf({ params, results }: FunctionType): BlockArity {
  return { params: params.length, results: results.length }
}

class BodyDecoder {
  readonly #context: CodeContext
  readonly #reader: ByteReader
  readonly #into: DecodedBody
  readonly #constructs: ConstructStack
  #opcodeOffset = 0
  /** Of the block type that was read last. */
  #block: BlockArity = NO_OPERANDS

  constructor(context: CodeContext, type: FunctionType, reader: ByteReader, into: DecodedBody) {
    this.#context = context
    this.#constructs = new ConstructStack(context, arityOf(type))
    this.#reader = reader
    this.#into = into
  }

  run(): void {
    const reader = this.#reader
    const into = this.#into
    while (this.#constructs.depth > 0) {
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
          first = this.#index(this.#constructs.depth, 'label')
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
      this.#constructs.pass(opcode, first, this.#block, this.#opcodeOffset)
    }
    into.maxStack = this.#constructs.maxHeight
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
      this.#into.pool.push(this.#index(this.#constructs.depth, 'label'))
    }
    return count + 1
  }

  #blockType(): number {
    const reader = this.#reader
    const offset = reader.offset
    const position = reader.position
    const value = reader.s33()
    this.#block = NO_OPERANDS
    if (value === -0x40) return BLOCK_EMPTY
    if (value < 0) {
      reader.position = position
      if (isTypedReference(readValueType(reader, this.#context.types.length))) {
        this.#into.features |= 1 << featureOf(opcodeRow(OP.refAsNonNull))
      }
      this.#block = ONE_RESULT
      return BLOCK_VALUE
    }
    const type = this.#context.types[value]
    if (type === undefined) throw invalidModule(`There is no type ${value}`, offset)
    this.#block = arityOf(type)
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
      this.#into.pool.push(this.#index(this.#constructs.depth, 'label'))
    }
  }
}
