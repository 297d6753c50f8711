/**
 * Calls of nodes: let in, written down, answered, written down.
 */
import { rightsAt } from '../plan/rights-at.ts'
import { requestsFor } from './asking.ts'
import { isCounted } from './grant-book.ts'
import type { NodeState } from './node-state.ts'
import type { CallWork, WorkEnd } from './node-work.ts'
import type { RunContext } from './run-context.ts'
import type { Used } from './run-event.ts'
import { addUsed } from './used.ts'

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
    return Object.keys(used).length > 0 ? { used: withoutFreeRights(run, path, used) } : {}
  }
  const end = await work.call({
    path,
    node: { capability },
    input,
    timeoutMs,
    signal: run.signalOf(state.path),
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
  return Object.keys(rest).length === 0 ? end : { ...end, used: addUsed(end.used ?? {}, rest) }
}

/** What counts nowhere is not written down. */
function withoutFreeRights({ state }: RunContext, path: string, { by = {}, ...used }: Used): Used {
  const rights = rightsAt(state.plan, path)
  const isBound = (name: string): boolean =>
    rights.some(({ rules }) => {
      const rule = rules.get(name)
      return rule !== undefined && isCounted(rule)
    })
  const bound = Object.entries(by).filter(([name]) => isBound(name))
  return bound.length === 0 ? used : { ...used, by: Object.fromEntries(bound) }
}
