/**
 * Programs of nodes, and of what undoes them: with what is left of every budget around them, and no more.
 *
 * Invariants
 * 1. What a program may use of fuel, active time and bytes is set apart before it begins; where too little is left
 *    because others have set it apart, it waits for them.
 * 2. What it used counts once, however many processes took it up, and an earlier life is never forgotten.
 * 3. One that ends because a budget around it is used up has not failed: it stands still, and can go on with more.
 */
import { type LimitName, type Limits, parseLimits } from '../../machine/limits.ts'
import { leftFor, limitsWithin, NOTHING_RESERVED, usedUp } from './budgets.ts'
import type { NodeState } from './node-state.ts'
import { isKept, type ProgramWork, type WorkEnd } from './node-work.ts'
import type { RunContext } from './run-context.ts'
import type { Used } from './run-event.ts'
import { addUsed, negated } from './used.ts'

export type ProgramToRun = Omit<ProgramWork, 'limits' | 'counted' | 'allowance' | 'signal' | 'atMs'>

/** Parts that are set apart for a program. */
const PARTS = ['fuel', 'activeMs', 'bytes'] as const

export async function programOf(run: RunContext, state: NodeState, work: ProgramToRun): Promise<WorkEnd> {
  const { node, path } = work
  const { signal } = run.stopOf(state.path)
  // Between the look and the taking nobody else may look: there is no wait.
  while (!signal.aborted && usedUp(leftFor(run.state, state, run.reserve), PARTS) !== undefined) {
    const missing = usedUp(leftFor(run.state, state, NOTHING_RESERVED), PARTS)
    if (missing !== undefined) return { end: 'short', part: missing }
    await run.reserve.freed(signal)
  }
  const stop = new AbortController()
  const raise = (): void => stop.abort(signal.reason)
  if (signal.aborted) raise()
  signal.addEventListener('abort', raise)
  const purse = run.purseOf(state, path, () => stop.abort())
  const counted = isKept(node) ? state.counted : {}
  const own = parseLimits(node.limits)
  const left = leftFor(run.state, state, run.reserve)
  const limits = limitsWithin(own, withCounted(left, counted))
  const { fuel, wallMs: activeMs, bytesIn, bytesOut } = limits
  const wanted = addUsed({ fuel, activeMs, bytes: bytesIn + bytesOut }, negated({ ...counted, by: {} }))
  const giveBack = run.reserve.take(state, atLeastNothing(wanted))
  try {
    const end = await run.work.program({
      ...work,
      signal: stop.signal,
      atMs: state.attemptAtMs ?? 0,
      limits,
      counted,
      allowance: purse,
    })
    // Who goes on with it takes what it has from its record.
    if (end.end === 'lost' || (end.end !== 'value' && run.stop.signal.aborted)) return end
    const used = addUsed(end.used ?? {}, purse.spent())
    const { short } = purse
    purse.short = undefined
    if (short !== undefined && end.end !== 'value')
      return { ...end, end: 'short', part: short, used } as WorkEnd
    const part = end.end === 'failure' ? budgetOf(end.limit, own, limits, work.timeoutMs) : undefined
    return part === undefined ? { ...end, used } : ({ ...end, end: 'short', part, used } as WorkEnd)
  } finally {
    giveBack()
    signal.removeEventListener('abort', raise)
  }
}

/** A program that goes on counts from its beginning: what it used before is within its limits, and not left any more. */
function withCounted(left: Used, counted: Used): Used {
  const parts = PARTS.flatMap((part) =>
    left[part] === undefined ? [] : [[part, (left[part] ?? 0) + (counted[part] ?? 0)] as const],
  )
  return Object.fromEntries(parts)
}

/** The part of a budget that a limit was lowered to; undefined where it is the program's own. */
function budgetOf(
  limit: LimitName | undefined,
  own: Limits,
  { fuel, wallMs, bytesIn, bytesOut }: Limits,
  timeoutMs: number = Number.POSITIVE_INFINITY,
): string | undefined {
  switch (limit) {
    case 'fuel':
      return fuel < own.fuel ? 'fuel' : undefined
    case 'wall':
      return wallMs < Math.min(own.wallMs, timeoutMs) ? 'activeMs' : undefined
    case 'bytes':
      return bytesIn < own.bytesIn || bytesOut < own.bytesOut ? 'bytes' : undefined
    default:
      return undefined
  }
}

function atLeastNothing(used: Used): Used {
  const parts = PARTS.map((part) => [part, Math.max(0, used[part] ?? 0)] as const)
  return Object.fromEntries(parts)
}
