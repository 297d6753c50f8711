/** Counts fuel by executed instruction: the observer that makes the interpreter an oracle for totals. */
import { BULK_PRICES, fuelCost } from '../../../src/wasm/cost.ts'
import type { ExecutionObserver } from './instance-state.ts'

const PER_UNIT = new Map(Object.values(BULK_PRICES).map((price) => [price.opcode, price.fuelPerUnit]))

/** The fuel for `units` bytes, pages or entries of a bulk instruction, its own price aside. */
export function fuelForUnits(opcode: number, units: number): number {
  return (PER_UNIT.get(opcode) ?? 0) * units
}

/** What was executed, and what it costs. */
export class FuelCount implements ExecutionObserver {
  /** Fuel spent so far; exact up to 2^53. */
  fuel = 0
  /** How often each opcode ran. */
  readonly opcodes: Map<number, number> = new Map()
  readonly executed: ExecutionObserver['executed']
  readonly worked: ExecutionObserver['worked']

  constructor() {
    this.executed = ({ opcode }) => {
      this.fuel += fuelCost(opcode)
      this.opcodes.set(opcode, (this.opcodes.get(opcode) ?? 0) + 1)
    }
    this.worked = (opcode, units) => {
      this.fuel += fuelForUnits(opcode, units)
    }
  }
}
