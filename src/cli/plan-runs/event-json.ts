/**
 * What a run of a plan wrote down, for machines: its own structure is plain JSON, and values that came from guests,
 * tools and people stand in it in the tagged form (docs/value-encoding.md).
 */
import type { OpenRequest } from '../../graph/run/decisions.ts'
import type { OpenDoubt } from '../../graph/run/doubts.ts'
import type { PositionedEvent } from '../../runtime/plans/plan-run.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import { jsonText } from '../render/json-text.ts'

/** One line of JSON: the event as it is written down, and its position. */
export function eventJson({ position, event }: PositionedEvent): string {
  return jsonText({ position, ...(plainJson(event) as object) })
}

/** A request as it is shown. */
export function requestJson({ args, decided, ...request }: OpenRequest): object {
  const said = decided && { ...decided, ...('value' in decided && { value: toTaggedJson(decided.value) }) }
  return { ...request, args: toTaggedJson(args), ...(said && { decided: said }) }
}

export function doubtJson({ args, ...doubt }: OpenDoubt): object {
  return { ...doubt, args: toTaggedJson(args) }
}

/** Copied as it stands, but for values: an object that has a `value` and nothing else is one. */
function plainJson(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part
  if (Array.isArray(part)) return part.map(plainJson)
  const entries = Object.entries(part)
  if (entries.length === 1 && entries[0]?.[0] === 'value') return { value: toTaggedJson(entries[0][1]) }
  return Object.fromEntries(entries.map(([name, member]) => [name, plainJson(member)]))
}
