/** What to do about an end: the sentence under the error. */
import { showCount } from '../../base/show-count.ts'
import { type Limits, largestLimit } from '../../machine/limits.ts'
import type { GuestError } from '../../machine/turn.ts'
import { failureHint, undefinedName } from '../../runtime/failure-hint.ts'
import { missingGrants, missingGrantsText } from '../../runtime/missing-grants.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import { failureCode } from '../failure-code.ts'

export interface RunFacts {
  readonly source: string
  /** Sources of the modules that it imported, by the names that stacks have; as far as they are known. */
  readonly modules?: ReadonlyMap<string, string>
  readonly limits: Limits
  /** Capabilities that exist and were not granted. */
  readonly withheld: readonly string[]
  /** How to go on, where the run is kept and can. */
  readonly goOn?: GoOn | undefined
}

/** What to do now, and the command line that does it: on a line of its own, so that it can be copied. */
export interface GoOn {
  readonly text: string
  readonly command: string
}

const KiB = 1024
const MiB = 1024 * KiB
const HOUR_MS = 3_600_000

/** What the error of an import says where a program has no folder: one on standard input. */
const NO_MODULES = 'the host gives this program no modules'

/** What the global `fetch` says where nothing was granted that it calls. */
const FETCH_WITHOUT = /^fetch needs the capability net\.fetch, which was not granted\b/

/** Globals of other platforms whose place a flag takes. What there is instead of others is the same everywhere. */
const OPENED_BY_FLAGS: Readonly<Record<string, string>> = {
  process: 'A program has no process. Hand values over with --input; it is the global `input`.',
  fetch: 'Grant hosts with --allow-net HOST, then call net.fetch({ url }).',
}

const READING = 'Grant a directory with --allow-read DIR (--allow-write DIR for writing, too).'
const WRITING = 'Grant a directory for writing with --allow-write DIR.'

/** Capabilities that flags open, and which. */
const OPENED_BY: Readonly<Record<string, string>> = {
  'files.read': READING,
  'files.readText': READING,
  'files.list': READING,
  'files.stat': READING,
  'files.write': WRITING,
  'files.mkdir': WRITING,
  'files.remove': WRITING,
  'net.fetch': 'Grant hosts with --allow-net HOST.',
}

/** The source that an error's position is in. */
export function sourceAt({ source, modules }: RunFacts, { position }: GuestError): string {
  return (position && modules?.get(position.file)) ?? source
}

/** One sentence, or undefined where there is nothing to advise. Contains text of the program: escape it. */
export function nextStep(outcome: Outcome, facts: RunFacts): string | undefined {
  if (facts.goOn !== undefined) return `${facts.goOn.text}: ${facts.goOn.command}`
  switch (outcome.status) {
    case 'exhausted':
      return afterLimit(outcome.limit, facts.limits)
    case 'failed':
      return afterFailure(outcome.error, facts) ?? outcome.hint
    default:
      return undefined
  }
}

function afterLimit(limit: Extract<Outcome, { status: 'exhausted' }>['limit'], limits: Limits): string {
  switch (limit) {
    case 'fuel':
      return raise(
        'fuel',
        '--fuel',
        limits,
        (n) => showCount(n).replaceAll(',', '_'),
        'make the program do less',
      )
    case 'memory':
      return raise(
        'memoryBytes',
        '--memory',
        limits,
        (n) => `${Math.ceil(n / MiB)}MiB`,
        'make the program keep less',
      )
    case 'stack':
      return raise(
        'stackBytes',
        '--stack',
        limits,
        (n) => (n % MiB === 0 ? `${n / MiB}MiB` : `${n / KiB}KiB`),
        'look for recursion without an end',
      )
    case 'wall':
      return raise(
        'wallMs',
        '--timeout',
        limits,
        (n) => `${Math.ceil(n / 1000)}s`,
        'make the program do less',
      )
    case 'calls':
      return raise('calls', '--calls', limits, String, 'look for a loop that calls without an end')
    case 'bytes':
      return 'Return less, pass less to calls, or work through files.'
    case 'idle':
      return raise(
        'idleMs',
        '--idle',
        limits,
        (n) => (n % HOUR_MS === 0 ? `${n / HOUR_MS}h` : `${Math.ceil(n / 1000)}s`),
        'look for a timer that is far away, or an interval that nobody clears',
      )
    case 'timers':
      return raise('timers', '--timers', limits, String, 'look for an interval that nobody clears')
  }
}

/** The flag with twice the limit, as far as it goes, or what else to do. */
function raise(
  name: keyof Limits,
  flag: string,
  limits: Limits,
  show: (value: number) => string,
  otherwise: string,
): string {
  const more = Math.min(Math.max(1, limits[name] * 2), largestLimit(name))
  if (more <= limits[name]) return `It cannot be raised any more: ${otherwise}.`
  return `Raise it with ${flag} ${show(more)}, or ${otherwise}.`
}

function afterFailure(
  error: Extract<Outcome, { status: 'failed' }>['error'],
  facts: RunFacts,
): string | undefined {
  const { withheld } = facts
  const source = sourceAt(facts, error)
  const ofFetch = withheld.filter((name) => name === 'net.fetch' && FETCH_WITHOUT.test(error.message))
  const wanted = ofFetch.length > 0 ? ofFetch : missingGrants(error, source, withheld)
  const text = missingGrantsText(wanted)
  if (text !== undefined) return `${text}: ${wanted.map((name) => `--grant ${name}`).join(' ')}`
  if (FETCH_WITHOUT.test(error.message)) return OPENED_BY['net.fetch']
  const [opened] = missingGrants(error, source, Object.keys(OPENED_BY))
  if (opened !== undefined) return OPENED_BY[opened]
  const missing = undefinedName(error)
  if (missing !== undefined && Object.hasOwn(OPENED_BY_FLAGS, missing)) return OPENED_BY_FLAGS[missing]
  const hint = failureHint(error, source, [])
  if (hint !== undefined) {
    const [, flags] = Object.entries(OPENED_BY).find(([name]) => hint.includes(`grant ${name} `)) ?? []
    return flags === undefined ? hint : `${hint} ${flags}`
  }
  if (error.code === 'not_found' && error.message.includes(NO_MODULES)) {
    return 'Put the program into a file: caisson run FILE reads modules from the folder of FILE.'
  }
  if (failureCode(error) === 'network_denied')
    return 'Allow the host with --allow-net HOST, if the program may reach it.'
  return undefined
}
