/**
 * The constructs that are open while a body is decoded, and the height of its operand stack.
 *
 * 1. Constructs are closed in order, and clauses stand in the construct that they belong to.
 * 2. The height is exact in code that can be reached and an upper bound behind branches.
 */
import type { CodeContext } from './code-context.ts'
import type { Opcode } from './cost.ts'
import { IntList } from './int-list.ts'
import { invalidModule } from './module-error.ts'
import { OP, opcodeRow, stackDelta } from './opcode-table.ts'

/** Numbers of operands that a construct takes and leaves. */
export interface BlockArity {
  readonly params: number
  readonly results: number
}

/** Kinds on the stack are opcodes: of the construct, or of its latest clause. */
const FUNCTION = OP.nop

/** Open constructs: kinds, base heights and numbers of operands. */
export class ConstructStack {
  readonly #context: CodeContext
  readonly #kinds: IntList = new IntList()
  readonly #bases: IntList = new IntList()
  readonly #params: IntList = new IntList()
  readonly #results: IntList = new IntList()
  #height = 0
  #maxHeight = 0
  /** Offset of the current instruction, for errors. */
  #offset = 0

  /** Begins with the function itself, as a construct. */
  constructor(context: CodeContext, type: BlockArity) {
    this.#context = context
    this.#push(FUNCTION, type)
  }

  /** How many constructs are open. None: the function has ended. */
  get depth(): number {
    return this.#kinds.length
  }

  /** The greatest height so far. */
  get maxHeight(): number {
    return this.#maxHeight
  }

  /**
   * Goes past one instruction.
   *
   * @param first its first immediate, as in `DecodedBody`
   * @param block what a construct takes and leaves, if the instruction opens one
   * @param offset where it stands in the module, for errors
   */
  pass(opcode: Opcode, first: number, block: BlockArity, offset: number): void {
    this.#offset = offset
    if (opcode < 0x20 && opcode !== OP.drop) this.#structure(opcode, first, block)
    else this.#adjust(stackDelta(opcodeRow(opcode)))
  }

  #push(kind: number, { params, results }: BlockArity): void {
    this.#kinds.push(kind)
    this.#bases.push(this.#height)
    this.#params.push(params)
    this.#results.push(results)
  }

  #pop(): void {
    this.#kinds.length--
    this.#bases.length--
    this.#params.length--
    this.#results.length--
  }

  /** Moves the height, never below the base of the open construct: code behind a branch pops at will. */
  #adjust(delta: number): void {
    const base = this.#bases.top()
    const height = this.#height + delta
    this.#height = Math.max(height, base)
    if (this.#height > this.#maxHeight) this.#maxHeight = this.#height
  }

  #unreachable(): void {
    this.#height = this.#bases.top()
  }

  #call(typeIndex: number): void {
    const type = this.#context.types[typeIndex]
    if (type === undefined) throw invalidModule(`There is no type ${typeIndex}`, this.#offset)
    this.#adjust(-type.params.length)
    this.#adjust(type.results.length)
  }

  #tagParams(tag: number): number {
    return this.#context.types[this.#context.tags[tag] as number]?.params.length ?? 0
  }

  #open(opcode: Opcode, block: BlockArity): void {
    this.#adjust(-block.params)
    this.#push(opcode, block)
    this.#adjust(block.params)
  }

  /** Begins another clause of the open construct, whose latest clause must be one of `after`. */
  #clause(opcode: Opcode, after: readonly number[], height: number): void {
    if (!after.includes(this.#kinds.top())) {
      throw invalidModule('A clause stands outside of its construct', this.#offset)
    }
    this.#kinds.items[this.depth - 1] = opcode
    this.#height = this.#bases.top()
    this.#adjust(height)
  }

  #close(): void {
    const results = this.#results.top()
    this.#height = this.#bases.top()
    this.#pop()
    if (this.depth > 0) this.#adjust(results)
  }

  #structure(opcode: Opcode, first: number, block: BlockArity): void {
    switch (opcode) {
      case OP.block:
      case OP.loop:
      case OP.try:
      case OP.tryTable:
        this.#open(opcode, block)
        break
      case OP.if:
        this.#adjust(-1)
        this.#open(opcode, block)
        break
      case OP.else:
        this.#clause(opcode, [OP.if], this.#params.top())
        break
      case OP.catch:
        this.#clause(opcode, [OP.try, OP.catch], this.#tagParams(first))
        break
      case OP.catchAll:
        this.#clause(opcode, [OP.try, OP.catch], 0)
        break
      case OP.delegate:
        if (this.#kinds.top() !== OP.try || first >= this.depth - 1) {
          throw invalidModule('delegate outside of try, or without a target', this.#offset)
        }
        this.#close()
        break
      case OP.end:
        this.#close()
        break
      case OP.rethrow: {
        const kind = this.#kinds.at(this.depth - 1 - first)
        if (kind !== OP.catch && kind !== OP.catchAll) {
          throw invalidModule('rethrow outside of catch', this.#offset)
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
