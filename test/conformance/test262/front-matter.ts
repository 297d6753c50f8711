/**
 * Reads the description at the head of a test of test262: YAML inside of a comment, in the few shapes that the suite's
 * own linter lets through. What is not needed to run a test is passed over.
 */

/** What a test says about itself. */
export interface FrontMatter {
  readonly flags: ReadonlySet<string>
  readonly features: readonly string[]
  /** Files of `harness/`, in the order in which they are evaluated. */
  readonly includes: readonly string[]
  /** Set where the test must end in an error: in which phase, and of which constructor. */
  readonly negative: { readonly phase: string; readonly type: string } | undefined
}

const BLOCK = /\/\*---\r?\n?([\s\S]*?)---\*\//

/** @throws Error for a test without front matter, or a negative one that does not say what must happen */
export function readFrontMatter(source: string): FrontMatter {
  const block = BLOCK.exec(source)?.[1]
  if (block === undefined) throw new Error('The file has no front matter.')
  const lines = block.split(/\r\n|\r|\n/)
  const negative = nested(lines, 'negative')
  if (negative !== undefined && (negative.phase === undefined || negative.type === undefined)) {
    throw new Error('A negative test must name phase and type.')
  }
  return {
    flags: new Set(list(lines, 'flags')),
    features: list(lines, 'features'),
    includes: list(lines, 'includes'),
    negative: negative === undefined ? undefined : { phase: negative.phase ?? '', type: negative.type ?? '' },
  }
}

/** `key: [a, b]`, perhaps over several lines, or `key:` with a line `- a` for each. */
function list(lines: readonly string[], key: string): readonly string[] {
  const at = lines.findIndex((line) => line.startsWith(`${key}:`))
  if (at < 0) return []
  const below = indented(lines, at)
  const inline = [lines[at]?.slice(key.length + 1) ?? '', ...below].join(' ')
  const bracketed = /^\s*\[([^\]]*)\]/.exec(inline)?.[1]
  const items =
    bracketed === undefined ? below.map((line) => line.replace(/^\s*-/, '')) : bracketed.split(',')
  return items.map((item) => item.replace(/\s#.*$/, '').trim()).filter((item) => item !== '')
}

/** `key:` with a line `name: value` for each entry. */
function nested(lines: readonly string[], key: string): Readonly<Record<string, string>> | undefined {
  const at = lines.findIndex((line) => line.startsWith(`${key}:`))
  if (at < 0) return undefined
  return Object.fromEntries(
    indented(lines, at).map((line) => {
      const [name = '', value = ''] = line.split(':')
      return [name.trim(), value.trim()]
    }),
  )
}

/** The lines that belong to the key in line `at`. */
function indented(lines: readonly string[], at: number): readonly string[] {
  const rest = lines.slice(at + 1)
  const end = rest.findIndex((line) => /^[^\s-]/.test(line))
  return end < 0 ? rest : rest.slice(0, end)
}
