/**
 * Tells what happens, one line per call, while the program runs: it is the call log of the run.
 *
 * 1. Lines are plain text without escapes: a pipe gets what a terminal gets.
 * 2. What comes from the program is shown on one line, shortened, and without control characters.
 * 3. Lines of our own are broken between words where they are too wide, and go on under where they began.
 */
import type { CallIntent, CallLog, CallResult } from '../../src/ports/call-log.ts'

export interface Narrator extends CallLog {
  intent(record: CallIntent): void
  result(record: CallResult): void
  /** What fits behind time and topic, in characters. */
  readonly textWidth: number
  /** A line of our own: who, and what. */
  say(topic: string, text: string): void
  /** An empty line, or one without a time. */
  plain(text?: string): void
}

/** What stands before the text of a line: time and topic. */
const MARGIN = 27

/** One line of at most `length` characters (default 36), whatever the text. */
export function oneLine(text: string, length = 36): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach the terminal
  const flat = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\s]+/g, ' ').trim()
  return flat.length <= length ? flat : `${flat.slice(0, length - 1)}…`
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

/** Path and query; a list in the query by its first item and its length. */
function askedUrl(text: string): string {
  if (!URL.canParse(text)) return oneLine(text)
  const { pathname, searchParams } = new URL(text)
  const query = [...searchParams].map(([name, value]) => {
    const items = value.split(',')
    return items.length === 1 ? `${name}=${value}` : `${name}=${items[0]},... (${items.length})`
  })
  return oneLine(query.length === 0 ? pathname : `${pathname}?${query.join('&')}`)
}

/** What was asked, as far as it tells something. */
function asked({ capability, args }: CallIntent): string {
  switch (capability) {
    case 'sql.query':
      return oneLine(String(field(args, 'text')))
    case 'net.fetch':
      return askedUrl(String(field(args, 'url')))
    case 'clock.sleep':
      return `${Number(field(args, 'ms')) / 1000} s`
    case 'artifacts.write':
      return oneLine(`${field(args, 'name')}, ${String(field(args, 'data')).length} characters`)
    default:
      return ''
  }
}

/** What came of it. */
function answered(capability: string, result: CallResult): string {
  if (!result.ok) return oneLine(`${result.code}: ${result.message}`, 100)
  switch (capability) {
    case 'sql.query':
      return `${(field(result.value, 'rows') as readonly unknown[] | undefined)?.length ?? 0} rows`
    case 'net.fetch': {
      const header = field(field(result.value, 'headers'), 'retry-after')
      const retryAfter = typeof header === 'string' ? header : undefined
      return `${field(result.value, 'status')}${retryAfter === undefined ? '' : `, Retry-After: ${oneLine(retryAfter)}`}`
    }
    case 'artifacts.write':
      return oneLine(String(field(result.value, 'digest')).slice(0, 19))
    default:
      return 'done'
  }
}

/** `text` in lines of at most `width` characters; longer words, such as paths, stay whole. */
function brokenLines(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Writes through `write`, in lines of `width` characters; times count from now, on `monotonicMs`. */
export function createNarrator(
  write: (line: string) => void,
  monotonicMs: () => number,
  width = 120,
): Narrator {
  const start = monotonicMs()
  const textWidth = Math.max(20, width - MARGIN)
  const open = new Map<number, { readonly intent: CallIntent; readonly sinceMs: number }>()
  const say = (topic: string, text: string): void => {
    const seconds = ((monotonicMs() - start) / 1000).toFixed(2).padStart(6)
    const [first = '', ...others] = brokenLines(text, textWidth)
    write(`${seconds} s  ${topic.padEnd(15)}  ${first}`)
    for (const line of others) write(' '.repeat(MARGIN) + line)
  }
  return {
    textWidth,
    say,
    plain: (text = '') => {
      // What stands behind columns of its own stays as it is.
      for (const line of text.startsWith(' ') ? [text] : brokenLines(text, Math.max(20, width))) write(line)
    },
    intent: (record) => {
      open.set(record.id, { intent: record, sinceMs: monotonicMs() })
    },
    result: (record) => {
      const call = open.get(record.id)
      open.delete(record.id)
      if (call === undefined) return
      const { intent, sinceMs } = call
      const took = Math.round(monotonicMs() - sinceMs)
      // Where there is little room, the answer tells more than what was asked.
      const answer = ` -> ${answered(intent.capability, record)} (${took} ms)`
      const told = oneLine(asked(intent), Math.max(12, textWidth - answer.length)) + answer
      say(intent.capability, oneLine(told, textWidth))
    },
  }
}
