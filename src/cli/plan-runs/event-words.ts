/** An event of a run in a few words. Texts of plans, guests and people are escaped and bounded. */
import { clipText } from '../../base/escape-text.ts'
import type { Failure, RunEvent, ValueRef, Waiting } from '../../graph/run/run-event.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import { jsonText } from '../render/json-text.ts'
import { shownText } from '../render/shown-text.ts'
import { showDuration } from '../units/parse-duration.ts'
import { showSize } from '../units/parse-size.ts'

const LONGEST_TEXT = 300
const LONGEST_VALUE = 120

/** Of a node or of the run itself: what happened, without its name. */
export function eventWords(event: RunEvent, timeMs: number): string {
  switch (event.type) {
    case 'proposed':
      return `proposed by ${shown(event.by)}`
    case 'approved':
      return `approved by ${shown(event.by)}${note(event.comment)}`
    case 'rejected':
      return `rejected by ${shown(event.by)}: ${shown(event.reason)}`
    case 'started':
      return `started by ${shown(event.by)}`
    case 'frozen':
      return `stands still (${event.reason}): ${shown(event.message)}`
    case 'confirmed':
      return `confirmed by ${shown(event.by)}: it goes on`
    case 'cancel_asked':
      return `to be cancelled, by ${shown(event.by)}: ${shown(event.reason)}`
    case 'failing':
      return event.node === ''
        ? `fails: ${failureWords(event.error)}`
        : `fails, as ${shown(event.node)} did: ${failureWords(event.error)}`
    case 'undoing':
      return 'undoes what was done'
    case 'completed':
      return `completed${valueWords(event.output)}`
    case 'failed':
      return `failed: ${failureWords(event.error)}`
    case 'cancelled':
      return 'cancelled'
    case 'compensated':
      return event.left.length === 0
        ? 'all that was done is undone'
        : `undone, but for ${event.left.map(shown).join(', ')}${event.more === undefined ? '' : ` and ${event.more} more`}`
    case 'node_started':
      return event.attempt > 1 ? `started, attempt ${event.attempt}` : 'started'
    case 'node_skipped':
      return event.by === undefined ? 'skipped' : `skipped, by ${shown(event.by)}`
    case 'node_called':
      return `call ${event.call} is made`
    case 'node_answered':
      return answeredWords(event)
    case 'node_expanded':
      return event.items === 1 ? '1 item' : `${event.items} items`
    case 'node_round':
      return `round ${event.round + 1} ended${event.done ? ', the last one' : ''}`
    case 'node_waiting':
      return waitingWords(event.waiting, timeMs)
    case 'node_woken':
      return event.by === undefined ? 'goes on' : `goes on, by ${shown(event.by)}`
    case 'node_decided':
      return event.approved
        ? `approved by ${shown(event.by)}${event.value === undefined ? '' : ', with a value of their own'}${note(event.comment)}`
        : `rejected by ${shown(event.by)}: ${shown(event.reason ?? '')}`
    case 'node_withdrawn':
      return `${shown(event.by)} took the decision back`
    case 'node_frozen':
      return `stands still: ${event.reason === 'in_doubt' ? 'whether its call took effect is not known' : event.reason}`
    case 'node_thawed':
      return event.again ? 'its call is made again' : 'goes on'
    case 'node_completed':
      return event.chosen === undefined
        ? `completed${valueWords(event.output)}`
        : `chose ${event.chosen.length === 0 ? 'nothing' : event.chosen.map(shown).join(', ')}`
    case 'node_failed':
      return `failed: ${failureWords(event.error)}${event.standby === undefined ? '' : `; ${shown(event.standby)} stands in`}`
    case 'node_retrying':
      return `failed: ${failureWords(event.error)}; tries again in ${showDuration(Math.max(0, event.atMs - timeMs))}`
    case 'node_recovered':
      return `failed, and a fallback stands in${event.ageMs === undefined ? '' : `, ${showDuration(event.ageMs)} old`}`
    case 'node_cancelled':
      return 'called off'
    case 'node_undoing':
      return 'is being undone'
    case 'node_undone':
      return 'undone'
    case 'node_not_undone':
      return `not undone: ${failureWords(event.error)}`
  }
}

export function failureWords({ code, message }: Failure): string {
  return `${shown(code)}: ${shown(message)}`
}

function answeredWords({ call, answer, by }: Extract<RunEvent, { type: 'node_answered' }>): string {
  const who = by === undefined ? '' : `, as ${shown(by)} says`
  if (answer === undefined) return `call ${call} did not happen${who}`
  return answer.ok
    ? `call ${call} is answered${valueWords(answer.value)}${who}`
    : `call ${call} failed: ${failureWords(answer.error)}${who}`
}

function waitingWords(waiting: Waiting, timeMs: number): string {
  switch (waiting.for) {
    case 'person':
      return waiting.asked.length === 1
        ? 'waits for a person'
        : `waits for a person, ${waiting.asked.length} requests`
    case 'time':
      return `waits ${showDuration(Math.max(0, waiting.atMs - timeMs))}`
    case 'event':
      return `waits for the event "${shown(waiting.name)}"`
  }
}

/** How a value begins, where it stands in the event itself. */
function valueWords(ref: ValueRef): string {
  if ('digest' in ref) return `: ${showSize(ref.bytes)}`
  if (ref.value === null || ref.value === undefined) return ''
  return `: ${clipText(jsonText(toTaggedJson(ref.value)), LONGEST_VALUE)}`
}

function note(comment: string | undefined): string {
  return comment === undefined ? '' : `: ${shown(comment)}`
}

function shown(text: string): string {
  return shownText(text, LONGEST_TEXT)
}
