/** What to do about an end: the sentence under the error. */
import { showCount } from '../../base/show-count.ts'
import type { Limits } from '../../machine/limits.ts'
import { missingGrants, missingGrantsText } from '../../runtime/missing-grants.ts'
import type { Outcome } from '../../runtime/outcome.ts'

export interface RunFacts {
  readonly source: string
  readonly fileName: string
  readonly limits: Limits
  /** Capabilities that exist and were not granted. */
  readonly withheld: readonly string[]
}

const MiB = 1024 * 1024

/** What guests lack that programs for Node or a page take for granted, and what there is instead. */
const ABSENT: Readonly<Record<string, string>> = {
  require: 'A program has no require. Grant what it needs: --tools, --allow-read, --allow-net.',
  process: 'A program has no process. Hand values over with --input; it is the global `input`.',
  fetch: 'Grant hosts with --allow-net HOST, then call net.fetch({ url }).',
  Buffer: 'Use Uint8Array.',
  setTimeout: 'A program has no timers; it ends when its work does.',
  window: 'A program runs in no page.',
  document: 'A program runs in no page.',
}

/** One sentence, or undefined where there is nothing to advise. Contains text of the program: escape it. */
export function nextStep(outcome: Outcome, facts: RunFacts): string | undefined {
  switch (outcome.status) {
    case 'exhausted':
      return afterLimit(outcome.limit, facts.limits)
    case 'failed':
      return afterFailure(outcome.error, facts)
    default:
      return undefined
  }
}

function afterLimit(limit: Extract<Outcome, { status: 'exhausted' }>['limit'], limits: Limits): string {
  const rest = 'or make the program do less.'
  switch (limit) {
    case 'fuel':
      return `Raise it with --fuel ${showCount(limits.fuel * 2).replaceAll(',', '_')}, ${rest}`
    case 'memory':
      return `Raise it with --memory ${Math.ceil((limits.memoryBytes * 2) / MiB)}MiB, or make the program keep less.`
    case 'stack':
      return 'Look for recursion without an end, or raise it with --stack.'
    case 'wall':
      return `Raise it with --timeout ${Math.ceil((limits.wallMs * 2) / 1000)}s, ${rest}`
    case 'calls':
      return `Raise it with --calls ${Math.max(1, limits.calls * 2)}, or look for a loop that calls without an end.`
    case 'bytes':
      return 'Return less, pass less to calls, or work through files.'
    case 'idle':
      return 'Nobody answered in time; run it again.'
    case 'timers':
      return 'Set fewer timers.'
  }
}

function afterFailure(
  error: Extract<Outcome, { status: 'failed' }>['error'],
  { source, fileName, withheld }: RunFacts,
): string | undefined {
  const wanted = missingGrants(error, source, withheld)
  const text = missingGrantsText(wanted)
  if (text !== undefined) return `${text}: ${wanted.map((name) => `--grant ${name}`).join(' ')}`
  const missing = /^'([^']{1,100})' is not defined$/.exec(error.message)?.[1]
  if (missing === 'files') return 'Grant a directory with --allow-read DIR or --allow-write DIR.'
  if (missing === 'net') return 'Grant hosts with --allow-net HOST.'
  if (missing !== undefined && Object.hasOwn(ABSENT, missing)) return ABSENT[missing]
  if (error.name === 'SyntaxError' && /\.[mc]?tsx?$/.test(fileName)) {
    return 'This version runs JavaScript: strip the types first, for example with npx esbuild FILE.'
  }
  if (error.code === 'network_denied')
    return 'Allow the host with --allow-net HOST, if the program may reach it.'
  return undefined
}
