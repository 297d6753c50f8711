/** Instructions of the interpreter behind the prefix 0xfc that move, fill, drop or grow. */
import type { TableInstance, Value } from './entities.ts'
import type { InstanceState } from './instance-state.ts'
import { type Instruction, OP } from './instruction.ts'
import { copyMemory, fillMemory, growMemory, initMemory } from './memory-instructions.ts'
import type { OperandStack } from './operand-stack.ts'
import { copyElements, fillTable, growTable } from './table-instructions.ts'

/** memory.grow. */
export function executeMemoryGrow(state: InstanceState, stack: OperandStack): void {
  const pages = stack.popIndex()
  const before = growMemory(state.memory, pages)
  if (before !== -1) state.observer.worked(OP.memory_grow, pages)
  stack.push(before)
}

/** All others. */
export function executeBulk(
  state: InstanceState,
  stack: OperandStack,
  { opcode, indices }: Instruction,
): void {
  const [first = 0, second = 0] = indices
  switch (opcode) {
    case OP.data_drop:
      state.data[first] = new Uint8Array(0)
      return
    case OP.elem_drop:
      state.elements[first] = []
      return
    case OP.table_size:
      stack.push(tableAt(state, first).elements.length)
      return
    case OP.table_grow:
      executeTableGrow(state, stack, tableAt(state, first))
      return
    default: {
      const [to, source, length] = stack.popMany(3) as [number, Value, number]
      workOnRange(state, opcode, [first, second], { to: to >>> 0, source, length: length >>> 0 })
      state.observer.worked(opcode, length >>> 0)
    }
  }
}

function executeTableGrow(state: InstanceState, stack: OperandStack, table: TableInstance): void {
  const count = stack.popIndex()
  const before = growTable(table, stack.pop(), count)
  if (before !== -1) state.observer.worked(OP.table_grow, count)
  stack.push(before)
}

/** The operands that all instructions on ranges take; `source` is a place, a byte or a reference. */
interface RangeOperands {
  readonly to: number
  readonly source: Value
  readonly length: number
}

function workOnRange(
  state: InstanceState,
  opcode: number,
  [first, second]: readonly [number, number],
  { to, source, length }: RangeOperands,
): void {
  const { memory, data, elements } = state
  const from = typeof source === 'number' ? source >>> 0 : 0
  switch (opcode) {
    case OP.memory_init:
      initMemory(memory, data[first] as Uint8Array, to, from, length)
      return
    case OP.memory_copy:
      copyMemory(memory, to, from, length)
      return
    case OP.memory_fill:
      fillMemory(memory, to, from, length)
      return
    case OP.table_fill:
      fillTable(tableAt(state, first), to, source, length)
      return
    case OP.table_init:
      copyElements(tableAt(state, second), elements[first] as Value[], to, from, length)
      return
    case OP.table_copy:
      copyElements(tableAt(state, first), tableAt(state, second).elements, to, from, length)
      return
    default:
      throw new Error(`the interpreter does not know opcode 0x${opcode.toString(16)}`)
  }
}

/** The table of this index. */
export function tableAt(state: InstanceState, index: number): TableInstance {
  const found = state.tables[index]
  if (found === undefined) throw new Error(`no table ${index}`)
  return found
}
