/** The outcome of a call of a component, from that of the run that it was driven as. */
import type { CallMachine } from '../../component/call-machine.ts'
import type { ComponentOutcome } from '../../component/component-outcome.ts'
import type { Outcome } from '../../machine/outcome.ts'

/** @param machine of the call: an exit is an end of components, and of no machine */
export function callOutcome(outcome: Outcome, { end }: Pick<CallMachine, 'end'>): ComponentOutcome {
  const { fuel, memoryBytes, wallMs } = outcome.usage
  const usage = { fuel, memoryBytes, wallMs }
  switch (outcome.status) {
    case 'completed':
      return { ...(end ?? { status: 'completed', value: outcome.value }), usage }
    case 'failed':
      return { status: 'failed', error: outcome.error, usage }
    case 'exhausted':
      return { status: 'exhausted', limit: outcome.limit, message: outcome.message, usage }
    case 'suspended':
      return { status: 'suspended', pending: outcome.pending, inDoubt: outcome.inDoubt, usage }
  }
}
