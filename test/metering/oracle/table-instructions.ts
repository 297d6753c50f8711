/** Table instructions of the interpreter. */
import { type TableInstance, TRAP, Trap, type Value } from './entities.ts'

function requireRange(length: number, from: number, count: number): void {
  if (from + count > length) throw new Trap(TRAP.table)
}

/** table.get. */
export function getElement(table: TableInstance, index: number): Value {
  requireRange(table.elements.length, index, 1)
  return table.elements[index]
}

/** table.set. */
export function setElement(table: TableInstance, index: number, value: Value): void {
  requireRange(table.elements.length, index, 1)
  table.elements[index] = value
}

/** table.grow: the old size, or -1. */
export function growTable(table: TableInstance, value: Value, count: number): number {
  const before = table.elements.length
  if (before + count > table.maximum) return -1
  for (let i = 0; i < count; i++) table.elements.push(value)
  return before
}

/** table.fill. */
export function fillTable(table: TableInstance, at: number, value: Value, count: number): void {
  requireRange(table.elements.length, at, count)
  table.elements.fill(value, at, at + count)
}

/** table.copy and table.init: `from` is another table's elements or an element segment. */
export function copyElements(
  to: TableInstance,
  from: readonly Value[],
  at: number,
  start: number,
  count: number,
): void {
  requireRange(from.length, start, count)
  requireRange(to.elements.length, at, count)
  const items = from.slice(start, start + count)
  items.forEach((item, i) => {
    to.elements[at + i] = item
  })
}
