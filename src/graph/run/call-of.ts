/**
 * Calls of nodes: let in, written down, answered, written down.
 */
import { requestsFor } from './asking.ts'
import type { NodeState } from './node-state.ts'
import type { CallWork, WorkEnd } from './node-work.ts'
import type { RunContext } from './run-context.ts'
import type { Used } from './run-event.ts'
import { addUsed, isNothing } from './used.ts'

/** @param path with `#undo` where it undoes the node */
export async function callOf(
  run: RunContext,
  state: NodeState,
  capability: string,
  { path, input, timeoutMs }: Pick<CallWork, 'path' | 'input' | 'timeoutMs'>,
): Promise<WorkEnd> {
  const { values, work, journal } = run
  const call = state.call?.id ?? run.nextCall()
  const purse = run.callPurse(state, path)
  /** What it took since the last event; that it is a call is said by the event that lets it in. */
  const spent = (): { readonly used?: Used } => {
    const { calls: _, ...used } = purse.spent()
    return isNothing(used) ? {} : { used }
  }
  const end = await work.call({
    path,
    node: { capability },
    input,
    timeoutMs,
    stop: run.stopOf(state.path),
    call,
    recorded: state.call,
    requests: await requestsFor(run, state, path),
    allowance: purse,
    admitted: async ({ key, repeatable, args }) => {
      run.emit({
        node: state.path,
        type: 'node_called',
        call,
        key,
        repeatable,
        ...(args !== undefined && { args }),
        ...spent(),
      })
      await journal.flush()
    },
    answered: async (answer) => {
      const recorded = answer.ok ? { ok: true as const, value: await values.keep(answer.value) } : answer
      run.emit({ node: state.path, type: 'node_answered', call, answer: recorded, ...spent() })
    },
  })
  if (purse.short !== undefined && end.end === 'failure') return { end: 'short', part: purse.short }
  // One that was refused after it was counted stays counted.
  const rest = purse.spent()
  return isNothing(rest) ? end : { ...end, used: addUsed(end.used ?? {}, rest) }
}
