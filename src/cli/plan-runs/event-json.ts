/** An event of a run for machines. */
import type { PositionedEvent } from '../../runtime/plans/plan-run.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import { jsonText } from '../render/json-text.ts'

/** One line of JSON: the event as it is written down, and its position. */
export function eventJson({ position, event }: PositionedEvent): string {
  return jsonText({ position, ...(toTaggedJson(event) as object) })
}
