/** A checkpoint and a run in detail, for people. Texts come from files that anybody can write: escaped and bounded. */
import { clipText, escapeText } from '../../base/escape-text.ts'
import { showCount } from '../../base/show-count.ts'
import type { DescribedRun } from '../../runtime/describe-run.ts'
import type { InspectedCheckpoint } from '../../snapshot/container/inspect-checkpoint.ts'
import { scopeTexts } from '../run/right-scope.ts'
import { showDuration } from '../units/parse-duration.ts'
import { showSize } from '../units/parse-size.ts'
import { showAgo } from '../units/show-age.ts'
import { callText } from './call-text.ts'
import type { Style } from './style.ts'
import { argumentLines } from './suspended-lines.ts'
import { timerText } from './timer-text.ts'
import { hangText } from './wrap-text.ts'

const LABEL = 13
const MOST_CHAIN = 40
const MOST_CALLS = 20

export interface DetailSetting {
  /** In columns. */
  readonly width: number
  readonly style: Style
  /** Milliseconds since the epoch. */
  readonly nowMs: number
}

/** What a checkpoint says of itself. @param verified the id of the key that it was verified with */
export function checkpointDetails(
  checkpoint: InspectedCheckpoint,
  verified: string | undefined,
  setting: DetailSetting,
): readonly string[] {
  const { style } = setting
  const { id, engine, run, principal, label, sequence, links, parent, takenAtMs, memoryBytes } = checkpoint
  const trust =
    verified === undefined
      ? 'It is whole, and nothing of what it says is verified: anybody can write such a file.'
      : `It was written by somebody who has the key "${verified}".`
  return [
    ...field('', trust, setting, verified === undefined ? style.yellow : style.green),
    ...field(
      'size',
      `${showSize(checkpoint.fileBytes)} for ${showSize(memoryBytes)} of memory; ${checkpoint.pages} pages and ${showSize(checkpoint.stateBytes)} of state`,
      setting,
    ),
    ...field('taken', `${showAgo(setting.nowMs - takenAtMs)}, sequence number ${sequence}`, setting),
    ...field('run', shown(run), setting),
    ...field('label', labelText(principal, label), setting),
    ...field('engine', shown(engine), setting),
    ...field(
      'builds on',
      parent === undefined ? 'nothing: it is whole by itself' : `${links} others, the next of them ${parent}`,
      setting,
    ),
    ...field('protection', protectionText(checkpoint), setting),
    ...field('id', id, setting),
  ]
}

function protectionText({ macKey, encryptionKey }: InspectedCheckpoint): string {
  const mac = macKey === undefined ? 'not authenticated' : `authenticated with "${shown(macKey)}"`
  const encrypted = encryptionKey === undefined ? 'not encrypted' : `encrypted with "${shown(encryptionKey)}"`
  return `${mac}, ${encrypted}`
}

/** How a run stands, by its head and its log. */
export function runDetails(described: DescribedRun, setting: DetailSetting): readonly string[] {
  const { start, head, summary, since, open, undelivered, end, limits, entries, waitsFor, engine } = described
  const timers = described.wakeAtMs === undefined ? [] : [timerText(described.wakeAtMs)]
  const { nowMs } = setting
  const age = summary?.atMs ? `, ${showAgo(nowMs - summary.atMs)}` : ''
  const status = end === undefined ? (summary?.status ?? 'unreadable') : endText(end.end)
  const counts = Object.entries(since).map(([type, count]) => `${count} ${type}`)
  return [
    ...field('status', `${status}${age}`, setting),
    ...field(
      'program',
      `${shown(start.fileName)}, ${programText(start)}, started ${showAgo(nowMs - (start.atMs ?? start.nowMs))}`,
      setting,
    ),
    ...field('label', labelText(start.principal, start.label), setting),
    ...field('engine', shown(engine), setting),
    ...field('rights', start.capabilities.map(({ name }) => shown(name)).join(', ') || 'none', setting),
    ...listed('reach', scopeTexts(start.scope ?? []).map(shown), setting),
    ...field(
      'limits',
      `${showCount(limits.fuel)} fuel, ${showSize(limits.memoryBytes)}, ${showDuration(limits.wallMs)}, ${showCount(limits.calls)} ${limits.calls === 1 ? 'call' : 'calls'}`,
      setting,
    ),
    ...field(
      'log',
      `${entries} entries${head === undefined || head.chain.length === 0 ? '' : `, ${entries - head.position - 1} since the newest checkpoint`}${counts.length > 0 ? `: ${counts.join(', ')}` : ''}`,
      setting,
    ),
    ...chainLines(described, setting),
    ...listed('waits for', [...waitsFor.map(callText), ...timers], setting),
    ...inDoubtLines(open, end === undefined, setting),
    ...listed(
      'answered',
      undelivered.map((id) => `call ${id}, not delivered yet`),
      setting,
    ),
  ]
}

/** How large the source is, or what a guest is that has none. */
function programText({ program, source }: DescribedRun['start']): string {
  const { kind, export: called } = (program ?? {}) as { readonly kind?: unknown; readonly export?: unknown }
  if (kind === 'module') return 'a WASI module'
  if (kind === 'component') return `a component, called by "${shown(String(called))}"`
  return showSize(source.length)
}

function endText(end: NonNullable<DescribedRun['end']>['end']): string {
  switch (end.status) {
    case 'completed':
      return 'completed'
    case 'exhausted':
      return `exhausted (${shown(end.limit)})`
    case 'failed':
      return `failed: ${shown(end.error?.name)}: ${shown(end.error?.message)}`
  }
}

function chainLines({ chain }: DescribedRun, setting: DetailSetting): readonly string[] {
  const total = chain.reduce((sum, { checkpoint }) => sum + (checkpoint?.fileBytes ?? 0), 0)
  const lines = field(
    'checkpoints',
    chain.length === 0 ? 'none yet' : `${chain.length}, ${showSize(total)}`,
    setting,
  )
  const links = chain.slice(0, MOST_CHAIN).map(({ id, checkpoint }) => {
    const name = id.slice('sha256:'.length, 'sha256:'.length + 12)
    return checkpoint === undefined
      ? `${name}  missing or damaged`
      : `${name}  ${showSize(checkpoint.fileBytes)}, ${checkpoint.pages} pages, ${showAgo(setting.nowMs - checkpoint.takenAtMs)}`
  })
  const rest = chain.length - links.length
  const all = rest > 0 ? [...links, `... ${rest} more`] : links
  return [...lines, ...all.map((line) => ' '.repeat(LABEL) + line)]
}

/** Calls that were let in and have no recorded answer, with what they were let in with. */
function inDoubtLines(
  open: DescribedRun['open'],
  matters: boolean,
  setting: DetailSetting,
): readonly string[] {
  if (!matters || open.length === 0) return []
  const lines = open
    .slice(0, MOST_CALLS)
    .flatMap(({ id, capability, effect, args }) => [
      ...field(
        'unanswered',
        `call ${id} ${shown(capability)} (${shown(effect)}): made, and no answer is recorded. In doubt, unless its capability is idempotent.`,
        setting,
      ),
      ...argumentLines(args, setting.width).map((line) => ' '.repeat(LABEL - 6) + line),
    ])
  return open.length > MOST_CALLS
    ? [...lines, `${' '.repeat(LABEL)}... ${open.length - MOST_CALLS} more`]
    : lines
}

function listed(label: string, texts: readonly string[], setting: DetailSetting): readonly string[] {
  return texts.slice(0, MOST_CALLS).flatMap((text, i) => field(i === 0 ? label : '', text, setting))
}

function field(
  label: string,
  text: string,
  { width, style }: DetailSetting,
  paint: (text: string) => string = (plain) => plain,
): readonly string[] {
  return hangText(label.padEnd(LABEL), text, width).map(
    (line) => style.bold(line.slice(0, LABEL)) + paint(line.slice(LABEL)),
  )
}

function labelText(principal: string, label: string): string {
  return principal === '' ? label : `${label}, of ${shown(principal)}`
}

/** Whatever stands where a text should be. */
function shown(text: unknown): string {
  return escapeText(clipText(typeof text === 'string' ? text : '?', 200))
}
