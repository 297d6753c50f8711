/**
 * One activation of a function in the oracle's interpreter.
 *
 * 1. Every instruction is reported to the observer once, immediately before it runs; one that works on many
 *    bytes, pages or entries reports their number once it has done so, and nothing when it traps or fails.
 * 2. `end` of a block that is left by a branch is not reported; where control leaves a block by falling off an
 *    `else` or `catch`, the matching `end` is not reported either. The cost table gives these instructions no
 *    cost, which a test of the oracle checks.
 * 3. A tail call ends the activation: `run` returns the next function and its arguments.
 */
import { executeBulk, executeMemoryGrow, tableAt } from './bulk-instructions.ts'
import { type ControlMap, mapControl } from './control-map.ts'
import {
  type CaughtException,
  type FunctionInstance,
  type TagInstance,
  TRAP,
  Trap,
  type Value,
  WasmException,
} from './entities.ts'
import type { InstanceState } from './instance-state.ts'
import { type BlockType, type CatchClause, type Instruction, OP, type ValueType } from './instruction.ts'
import { isScalarStore, loadScalar, storeScalar } from './memory-instructions.ts'
import type { FunctionBody, FunctionType } from './module-reader.ts'
import { evaluateScalar, SCALAR_SIGNATURES } from './numeric-stubs.ts'
import { OperandStack } from './operand-stack.ts'
import { getElement, setElement } from './table-instructions.ts'
import { executeVector } from './vector-instructions.ts'

/** How an activation ends: with results, or by calling another function in its place. */
export type FrameEnd =
  | { readonly kind: 'returned'; readonly results: readonly Value[] }
  | { readonly kind: 'tail-called'; readonly callee: FunctionInstance; readonly args: readonly Value[] }

/** A label: the function body itself, or an open structured instruction. */
interface Label {
  readonly opcode: number
  /** Index of the instruction that opened it; -1 for the function body. */
  readonly at: number
  readonly end: number
  /** Stack height below its parameters. */
  readonly height: number
  /** How many values a branch to it carries. */
  readonly arity: number
  /** Set while a handler of this `try` runs. */
  caught: CaughtException | undefined
}

const controlMaps = new WeakMap<FunctionBody, ControlMap>()

function controlOf(body: FunctionBody): ControlMap {
  let map = controlMaps.get(body)
  if (map === undefined) {
    map = mapControl(body.code)
    controlMaps.set(body, map)
  }
  return map
}

/** The zero of a type: what a local holds before it is set. */
function defaultValue(type: ValueType): Value {
  if (type === 'i64') return 0n
  if (type === 'v128') return new Uint8Array(16)
  return type === 'i32' || type === 'f32' || type === 'f64' ? 0 : null
}

/** An activation; `run` may be called once. */
export class Frame {
  readonly #state: InstanceState
  readonly #body: FunctionBody
  readonly #control: ControlMap
  readonly #locals: Value[]
  readonly #stack: OperandStack = new OperandStack()
  readonly #labels: Label[]
  #next = 0
  #end: FrameEnd | undefined

  constructor(state: InstanceState, type: FunctionType, body: FunctionBody, args: readonly Value[]) {
    this.#state = state
    this.#body = body
    this.#control = controlOf(body)
    this.#locals = [...args, ...body.locals.map(defaultValue)]
    const end = body.code.length - 1
    const arity = type.results.length
    this.#labels = [{ opcode: OP.block, at: -1, end, height: 0, arity, caught: undefined }]
  }

  /** Runs to the end of the activation; traps and uncaught exceptions are thrown. */
  run(): FrameEnd {
    while (this.#end === undefined) {
      try {
        this.#runUntilThrow()
      } catch (thrown) {
        if (!this.#handle(thrown)) throw thrown
      }
    }
    return this.#end
  }

  #runUntilThrow(): void {
    const { code } = this.#body
    while (this.#end === undefined) {
      const instruction = code[this.#next] as Instruction
      this.#state.observer.executed(instruction)
      this.#next += 1
      this.#execute(instruction)
    }
  }

  #execute(instruction: Instruction): void {
    const { opcode } = instruction
    const signature = SCALAR_SIGNATURES.get(opcode)
    if (signature !== undefined) {
      const operands = this.#stack.popMany(signature.operands.length) as (number | bigint)[]
      this.#stack.push(evaluateScalar(opcode, operands))
    } else if (opcode >= 0x28 && opcode <= 0x3e) this.#accessMemory(instruction)
    else if (opcode >> 12 === 0xfd) executeVector(this.#state, this.#stack, instruction)
    else if (opcode >> 12 === 0xfc) executeBulk(this.#state, this.#stack, instruction)
    else if (!this.#executeControl(instruction)) this.#executePlain(instruction)
  }

  #blockType(block: BlockType | undefined): FunctionType {
    if (block === undefined) throw new Error('a structured instruction has a block type')
    if ('typeIndex' in block) return this.#state.module.types[block.typeIndex] as FunctionType
    return { params: [], results: block.result === undefined ? [] : [block.result] }
  }

  #open(instruction: Instruction): void {
    const at = this.#next - 1
    const { params, results } = this.#blockType(instruction.block)
    const arity = instruction.opcode === OP.loop ? params.length : results.length
    const end = this.#control.end.get(at) as number
    const height = this.#stack.values.length - params.length
    this.#labels.push({ opcode: instruction.opcode, at, end, height, arity, caught: undefined })
  }

  /** Branches to the label `depth` levels out; 0 is the innermost. */
  #branch(depth: number): void {
    const position = this.#labels.length - 1 - depth
    const label = this.#labels[position] as Label
    const values = this.#stack.popMany(label.arity)
    this.#stack.values.length = label.height
    this.#stack.push(...values)
    if (label.opcode === OP.loop) {
      this.#labels.length = position + 1
      this.#next = label.at + 1
      return
    }
    this.#labels.length = position
    this.#next = label.end + 1
    if (position === 0) this.#end = { kind: 'returned', results: values }
  }

  #executeControl(instruction: Instruction): boolean {
    const { opcode, indices } = instruction
    switch (opcode) {
      case OP.unreachable:
        throw new Trap(TRAP.unreachable)
      case OP.nop:
        return true
      case OP.block:
      case OP.loop:
      case OP.try:
      case OP.try_table:
        this.#open(instruction)
        return true
      case OP.if:
        this.#executeIf(instruction)
        return true
      case OP.end:
      case OP.else:
      case OP.catch:
      case OP.catch_all:
      case OP.delegate:
        this.#leaveBlock()
        return true
      case OP.br:
        this.#branch(indices[0] as number)
        return true
      case OP.br_if:
        if (this.#stack.popIndex() !== 0) this.#branch(indices[0] as number)
        return true
      case OP.br_table: {
        const chosen = Math.min(this.#stack.popIndex(), indices.length - 1)
        this.#branch(indices[chosen] as number)
        return true
      }
      case OP.return:
        this.#branch(this.#labels.length - 1)
        return true
      default:
        return this.#executeCall(instruction) || this.#executeThrow(instruction)
    }
  }

  #executeIf(instruction: Instruction): void {
    const at = this.#next - 1
    const taken = this.#stack.popIndex() !== 0
    const otherwise = this.#control.otherwise.get(at)
    if (!taken && otherwise === undefined) {
      this.#next = (this.#control.end.get(at) as number) + 1
      return
    }
    this.#open(instruction)
    if (!taken) this.#next = (otherwise as number) + 1
  }

  /** Control reached the end of a block (or the end of its first part): its results stay on the stack. */
  #leaveBlock(): void {
    const label = this.#labels.at(-1) as Label
    this.#next = label.end + 1
    if (this.#labels.length === 1) this.#branch(0)
    else this.#labels.pop()
  }

  #executeCall({ opcode, indices }: Instruction): boolean {
    switch (opcode) {
      case OP.call:
      case OP.return_call:
        this.#call(this.#state.functions[indices[0] as number] as FunctionInstance, opcode === OP.return_call)
        return true
      case OP.call_indirect:
      case OP.return_call_indirect: {
        const callee = this.#indirectCallee(indices[0] as number, indices[1] as number)
        this.#call(callee, opcode === OP.return_call_indirect)
        return true
      }
      default:
        return false
    }
  }

  #indirectCallee(typeIndex: number, tableIndex: number): FunctionInstance {
    const elements = this.#state.tables[tableIndex]?.elements ?? []
    const index = this.#stack.popIndex()
    if (index >= elements.length) throw new Trap(TRAP.table)
    const callee = elements[index] as FunctionInstance | null
    const expected = this.#state.module.types[typeIndex] as FunctionType
    if (callee === null || !sameType(callee.type, expected)) throw new Trap(TRAP.signature)
    return callee
  }

  #call(callee: FunctionInstance, tail: boolean): void {
    const args = this.#stack.popMany(callee.type.params.length)
    if (tail) this.#end = { kind: 'tail-called', callee, args }
    else this.#stack.push(...this.#state.call(callee, args))
  }

  #executeThrow({ opcode, indices }: Instruction): boolean {
    switch (opcode) {
      case OP.throw: {
        const index = indices[0] as number
        const count = this.#tagType(index).params.length
        throw new WasmException(this.#state.tags[index] as TagInstance, this.#stack.popMany(count))
      }
      case OP.rethrow: {
        const label = this.#labels[this.#labels.length - 1 - (indices[0] as number)]
        throw label?.caught?.thrown
      }
      case OP.throw_ref: {
        const caught = this.#stack.pop() as CaughtException | null
        if (caught === null) throw new Trap(TRAP.rethrowNull)
        throw caught.thrown
      }
      default:
        return false
    }
  }

  #tagType(index: number): FunctionType {
    const entry = this.#state.module.tags[index]
    return this.#state.module.types[entry?.typeIndex ?? -1] as FunctionType
  }

  /** Finds the handler of an exception in this activation and goes there; false when there is none. */
  #handle(thrown: unknown): boolean {
    if (thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError) return false
    while (this.#labels.length > 0) {
      const label = this.#labels.at(-1) as Label
      if (label.opcode === OP.try && label.caught === undefined) {
        if (this.#enterHandler(label, thrown)) return true
      } else if (label.opcode === OP.try_table && this.#branchToCatch(label, thrown)) return true
      else this.#labels.pop()
    }
    return false
  }

  /** Legacy handlers; pops the label (or, for `delegate`, all down to the target) when none matches. */
  #enterHandler(label: Label, thrown: unknown): boolean {
    for (const at of this.#control.handlers.get(label.at) ?? []) {
      const { opcode, indices } = this.#body.code[at] as Instruction
      if (opcode === OP.delegate) {
        this.#labels.length -= 1 + (indices[0] as number)
        return false
      }
      const values = opcode === OP.catch_all ? [] : this.#payload(indices[0] as number, thrown)
      if (values === undefined) continue
      label.caught = { thrown }
      this.#stack.values.length = label.height
      this.#stack.push(...values)
      this.#next = at + 1
      return true
    }
    this.#labels.pop()
    return false
  }

  #branchToCatch(label: Label, thrown: unknown): boolean {
    const { catches } = this.#body.code[label.at] as Instruction
    for (const clause of catches) {
      const values = this.#clausePayload(clause, thrown)
      if (values === undefined) continue
      this.#stack.values.length = label.height
      this.#labels.pop()
      this.#stack.push(...values)
      this.#branch(clause.label)
      return true
    }
    return false
  }

  #clausePayload(clause: CatchClause, thrown: unknown): Value[] | undefined {
    const all = clause.kind === 'catch_all' || clause.kind === 'catch_all_ref'
    const values = all ? [] : this.#payload(clause.tag, thrown)
    const withReference = clause.kind === 'catch_ref' || clause.kind === 'catch_all_ref'
    return values !== undefined && withReference ? [...values, { thrown }] : values
  }

  #payload(tagIndex: number, thrown: unknown): Value[] | undefined {
    const tag = this.#state.tags[tagIndex]
    return thrown instanceof WasmException && thrown.tag === tag ? [...thrown.values] : undefined
  }

  #executePlain({ opcode, indices, constant }: Instruction): void {
    const stack = this.#stack
    const index = indices[0] as number
    const { functions, globals, memory } = this.#state
    switch (opcode) {
      case OP.drop:
        this.#stack.pop()
        return
      case OP.select:
      case OP.select_typed: {
        const [first, second, condition] = this.#stack.popMany(3)
        stack.push(condition === 0 ? second : first)
        return
      }
      case OP.local_get:
        stack.push(this.#locals[index])
        return
      case OP.local_set:
        this.#locals[index] = this.#stack.pop()
        return
      case OP.local_tee:
        this.#locals[index] = stack.values.at(-1)
        return
      case OP.global_get:
        stack.push(globals[index]?.value)
        return
      case OP.global_set: {
        const cell = globals[index]
        if (cell !== undefined) cell.value = this.#stack.pop()
        return
      }
      case OP.table_get:
        stack.push(getElement(tableAt(this.#state, index), this.#stack.popIndex()))
        return
      case OP.table_set: {
        const value = this.#stack.pop()
        setElement(tableAt(this.#state, index), this.#stack.popIndex(), value)
        return
      }
      case OP.memory_size:
        stack.push(memory.bytes.length / 65_536)
        return
      case OP.memory_grow:
        executeMemoryGrow(this.#state, stack)
        return
      case OP.i32_const:
      case OP.i64_const:
      case OP.f32_const:
      case OP.f64_const:
        stack.push(constant)
        return
      case OP.ref_null:
        stack.push(null)
        return
      case OP.ref_is_null:
        stack.push(this.#stack.pop() === null ? 1 : 0)
        return
      case OP.ref_func:
        stack.push(functions[index])
        return
      default:
        throw new Error(`the interpreter does not know opcode 0x${opcode.toString(16)}`)
    }
  }

  #accessMemory({ opcode, offset }: Instruction): void {
    const value = isScalarStore(opcode) ? (this.#stack.pop() as number | bigint) : 0
    const address = this.#stack.popIndex() + offset
    if (isScalarStore(opcode)) storeScalar(this.#state.memory, opcode, address, value)
    else this.#stack.push(loadScalar(this.#state.memory, opcode, address))
  }
}

/** Structural equality of function types. */
function sameType(a: FunctionType, b: FunctionType): boolean {
  return (
    a.params.join() === b.params.join() &&
    a.results.join() === b.results.join() &&
    a.params.length === b.params.length
  )
}
