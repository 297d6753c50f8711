/**
 * Tells what happens, a line for each thing, with the time.
 *
 * 1. Lines are plain text without escapes: a pipe gets what a terminal gets.
 * 2. What comes from programs and services is shown on one line, shortened, and without control characters.
 * 3. Lines are broken between words where they are too wide, and go on under where they began.
 */

export interface Narrator {
  /** What fits behind time and topic, in characters. */
  readonly textWidth: number
  /** Who, and what. */
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

/** Path and query; a list in the query by its first item and its length. */
export function shortUrl(text: string): string {
  if (!URL.canParse(text, 'http://localhost')) return oneLine(text)
  const { pathname, searchParams } = new URL(text, 'http://localhost')
  const query = [...searchParams].map(([name, value]) => {
    const items = value.split(',')
    return items.length === 1 ? `${name}=${value}` : `${name}=${items[0]},... (${items.length})`
  })
  return oneLine(query.length === 0 ? pathname : `${pathname}?${query.join('&')}`)
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
  return {
    textWidth,
    say(topic, text) {
      const seconds = ((monotonicMs() - start) / 1000).toFixed(2).padStart(6)
      const [first = '', ...others] = brokenLines(text, textWidth)
      write(`${seconds} s  ${topic.padEnd(15)}  ${first}`)
      for (const line of others) write(' '.repeat(MARGIN) + line)
    },
    plain(text = '') {
      // What stands behind columns of its own stays as it is.
      for (const line of text.startsWith(' ') ? [text] : brokenLines(text, Math.max(20, width))) write(line)
    },
  }
}
