/**
 * Requests to people, and calls in doubt, as they are shown: whole, and with nothing in them that a terminal obeys. Who
 * decides says yes to the digest of exactly this.
 */
import { clipText, escapeText } from '../../base/escape-text.ts'
import type { OpenRequest } from '../../graph/run/decisions.ts'
import type { OpenDoubt } from '../../graph/run/doubts.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import { jsonText } from '../render/json-text.ts'
import { showValue } from '../render/show-value.ts'
import { shownText } from '../render/shown-text.ts'
import type { Style } from '../render/style.ts'
import { hangText } from '../render/wrap-text.ts'
import { showDuration } from '../units/parse-duration.ts'
import { showAgo } from '../units/show-age.ts'

const LABEL = 11
const LONGEST_DATA = 2_000

export interface RequestSetting {
  /** In columns. */
  readonly width: number
  readonly style: Style
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  /** Lines of what is shown; more are said to be left out. */
  readonly mostLines: number
  /** Where all of it is to be had. Default: `caisson show`. */
  readonly whole?: string
}

export function requestLines(request: OpenRequest, setting: RequestSetting): readonly string[] {
  const { style, nowMs } = setting
  const { kind, node, question, action, effect, args, cost, policy, tool, plan, note, digest } = request
  const { decided, expiresAtMs } = request
  const what = { call: 'may a call be made?', question: 'may it go on?', value: 'a value is asked for' }[kind]
  return [
    `${style.yellow('?')} ${style.bold(escapeText(node))}  ${what}`,
    ...field('question', question === undefined ? undefined : shownText(question), setting),
    ...field('note', note === undefined ? undefined : shownText(note), setting),
    ...field('call', action === undefined ? undefined : `${shownText(action)} (${effect ?? '?'})`, setting),
    ...valueField(kind === 'call' ? 'with' : 'shows', args ?? undefined, setting),
    ...field('costs', cost === undefined ? undefined : data(cost), setting),
    ...field('allowed by', policy === undefined ? undefined : data(policy), setting),
    ...field('plan', plan, setting),
    ...field('tool', tool, setting),
    ...field('expires', expiresAtMs === undefined ? undefined : expiryText(expiresAtMs, nowMs), setting),
    ...field('decided', decided === undefined ? undefined : decidedText(decided, nowMs), setting),
    ...field('comment', decided?.comment === undefined ? undefined : shownText(decided.comment), setting),
    ...field('because', decided?.reason === undefined ? undefined : shownText(decided.reason), setting),
    ...(decided !== undefined && 'value' in decided ? valueField('instead', decided.value, setting) : []),
    ...field('digest', digest, setting),
  ]
}

export function doubtLines(doubt: OpenDoubt, setting: RequestSetting): readonly string[] {
  const { node, call, capability, args, settled } = doubt
  const state = settled ? 'somebody said what became of it' : 'made, and nobody knows whether it took effect'
  return [
    `${setting.style.yellow('!')} ${setting.style.bold(escapeText(node))}  call ${call} ${shownText(capability)}: ${state}`,
    ...valueField('with', args ?? undefined, setting),
  ]
}

function expiryText(expiresAtMs: number, nowMs: number): string {
  return expiresAtMs <= nowMs ? 'it is over' : `in ${showDuration(expiresAtMs - nowMs)}`
}

function decidedText({ by, approved, atMs }: NonNullable<OpenRequest['decided']>, nowMs: number): string {
  return `${approved ? 'approved' : 'rejected'} by ${shownText(by)}, ${showAgo(nowMs - atMs)}; the run has not gone on yet`
}

function field(label: string, text: string | undefined, { width, style }: RequestSetting): readonly string[] {
  if (text === undefined) return []
  const first = `    ${label.padEnd(LABEL)}`
  return hangText(first, text, width).map(
    (line) => style.dim(line.slice(0, first.length)) + line.slice(first.length),
  )
}

/** In as many lines as it takes, the first of them beside its label. */
export function valueField(label: string, value: unknown, setting: RequestSetting): readonly string[] {
  if (value === undefined) return []
  const { width, style, mostLines, whole = 'caisson show' } = setting
  const first = `    ${label.padEnd(LABEL)}`
  const text =
    typeof value === 'string' ? jsonText(value) : showValue(value, Math.max(20, width - first.length))
  const all = text.split('\n')
  const lines = all.slice(0, mostLines)
  if (all.length > lines.length) lines.push(`... ${all.length - lines.length} more lines (${whole} has all)`)
  return lines.map((line, i) => (i === 0 ? style.dim(first) : ' '.repeat(first.length)) + line)
}

function data(value: unknown): string {
  return clipText(jsonText(toTaggedJson(value)), LONGEST_DATA)
}
