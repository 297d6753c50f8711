/** What lifting and lowering of one call has at hand. */
import type { StringEncoding } from '../binary/component-ast.ts'
import { GuestFault, type GuestMemory } from './guest-memory.ts'
import type { BorrowScope, HandleTable } from './resources.ts'
import type { ValueBudget } from './value-budget.ts'

export interface ValueContext {
  readonly memory: GuestMemory | undefined
  readonly encoding: StringEncoding
  readonly handles: HandleTable
  readonly scope: BorrowScope
  readonly budget: ValueBudget
}

export function memoryOf({ memory }: ValueContext): GuestMemory {
  if (memory === undefined) throw new GuestFault('The guest passes such a value and names no memory.')
  return memory
}
