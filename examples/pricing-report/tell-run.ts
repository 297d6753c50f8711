/** A run of the plan in the lines of the story. */
import type { PlanOutcome, RecordedEvent, RunView } from '../../src/entry/node.ts'
import type { JobEvent } from './job-events.ts'
import { type Narrator, oneLine } from './narrator.ts'

/** Tells what a process tells. */
export function tellJob(event: JobEvent, narrator: Narrator): void {
  const { say, textWidth } = narrator
  switch (event.type) {
    case 'say':
      say(event.topic, event.text)
      break
    case 'event': {
      const line = lineOf(event.news.event)
      if (line !== undefined) say(line[0], oneLine(line[1], textWidth))
      break
    }
    case 'resumed':
      say(
        '',
        `.. a program goes on at its await: ${event.answersRepeated} answers from its log, no call for them`,
      )
      break
    case 'checkpoint':
    case 'ready':
    case 'call':
    case 'outcome':
      break // told where they matter
  }
}

/** What is worth a line: what a node came to, and what went wrong. */
function lineOf(event: RecordedEvent): readonly [topic: string, text: string] | undefined {
  switch (event.type) {
    case 'node_completed':
      return isOfMany(event.node) ? undefined : [event.node, 'done']
    case 'node_retrying':
      return [event.node, `${event.error.code}: tried once more, as the plan allows`]
    case 'node_failed':
      return event.standby === undefined
        ? [event.node, `failed: ${event.error.message}`]
        : [event.node, `${event.error.code}: ${event.standby} stands in, as the plan says`]
    case 'node_waiting':
      return event.waiting.for === 'person'
        ? [event.node, 'waits for a person; no process has to']
        : undefined
    case 'frozen':
      return ['frozen', event.message]
    case 'confirmed':
      return ['confirmed', `by ${event.by}: exactly this point`]
    case 'completed':
      return ['completed', 'the run has ended']
    default:
      return undefined
  }
}

/** Inside of an `each`: there are many of them. */
function isOfMany(path: string): boolean {
  return path.includes('/')
}

/** Where a run stands. */
export function tellView({ status, nodes, used, point, inDoubt }: RunView, { say }: Narrator): void {
  const all = nodes.flatMap((node) => [node, ...node.nodes])
  const count = (...wanted: readonly string[]): number =>
    all.filter((node) => wanted.includes(node.status)).length
  say(
    'stands',
    `${status}: ${count('completed')} nodes done, ${count('running', 'waiting', 'retrying')} under way, ${count('pending')} to come`,
  )
  say(
    '',
    `${inDoubt.length === 0 ? 'nothing' : inDoubt.join(', ')} in doubt; ${used.calls ?? 0} calls so far, ${million(used.fuel)} million units of fuel`,
  )
  say('', `point ${short(point)}`)
}

/** What came of it, and what it cost. */
export function tellOutcome(outcome: PlanOutcome, { budget }: RunView, { say, plain }: Narrator): void {
  plain()
  const { used } = outcome
  const of = (most: number | undefined): string => (most === undefined ? '' : ` of ${most}`)
  say('used', `fuel      ${million(used.fuel)} of ${million(budget?.fuel)} million units`)
  say(
    'used',
    `calls     ${used.calls ?? 0}${of(budget?.calls)}, steps ${used.steps ?? 0}${of(budget?.steps)}`,
  )
  say(
    'used',
    `time      ${((used.activeMs ?? 0) / 1000).toFixed(2)} of ${(budget?.activeMs ?? 0) / 1000} s at work, over all processes`,
  )
}

export const short = (digest: string): string => `${digest.slice(0, 19)}…`

const million = (units = 0): string => (units / 1e6).toFixed(0)
