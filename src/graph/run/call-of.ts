/**
 * Calls of nodes: let in, written down, answered, written down.
 */

import type { NodeState } from './node-state.ts'
import type { CallWork, WorkEnd } from './node-work.ts'
import type { RunContext } from './run-context.ts'

/** @param path with `#undo` where it undoes the node */
export function callOf(
  run: RunContext,
  state: NodeState,
  capability: string,
  { path, input, timeoutMs }: Pick<CallWork, 'path' | 'input' | 'timeoutMs'>,
): Promise<WorkEnd> {
  const { values, work, journal } = run
  const call = state.call?.id ?? run.nextCall()
  return work.call({
    path,
    node: { capability },
    input,
    timeoutMs,
    signal: run.signalOf(state.path),
    call,
    recorded: state.call,
    admitted: async ({ key, repeatable }) => {
      run.emit({ node: state.path, type: 'node_called', call, key, repeatable })
      await journal.flush()
    },
    answered: async (answer) => {
      const recorded = answer.ok ? { ok: true as const, value: await values.keep(answer.value) } : answer
      run.emit({ node: state.path, type: 'node_answered', call, answer: recorded })
    },
  })
}
