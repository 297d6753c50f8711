/**
 * Programs in a fence of Markdown, with prose around it, as models answer.
 *
 * The code keeps its lines and columns: what stands around it becomes empty lines. No JavaScript that means something
 * has a line that begins with three backticks outside of a comment.
 */

const FENCE = /^ {0,3}(`{3,})([^`\n]*)$/
const CODE: ReadonlySet<string> = new Set(['', 'js', 'javascript', 'mjs', 'node', 'ecmascript', 'jsx'])
const TYPED: ReadonlySet<string> = new Set(['ts', 'typescript', 'mts', 'tsx'])
/** What cannot be meant as JavaScript, whatever it looks like. */
const FOREIGN: ReadonlySet<string> = new Set(
  (
    'py python python3 sh bash zsh shell console powershell ps1 bat cmd json jsonc yaml yml toml xml html css scss ' +
    'sql rb ruby go golang rs rust java kotlin kt scala c h cpp c++ cs csharp swift php perl pl lua r julia dart ' +
    'elixir haskell hs clojure diff patch dockerfile makefile graphql md markdown mermaid svg'
  ).split(' '),
)

export interface Unfenced {
  readonly source: string
  /** What the fence says; undefined where it says nothing, or there is none. */
  readonly language?: 'js' | 'ts'
  /** Of a fence that says another language: what it says, and its line from 1. */
  readonly foreign?: { readonly language: string; readonly line: number }
}

interface Block {
  readonly info: string
  /** Lines from, and up to. */
  readonly from: number
  readonly to: number
  readonly size: number
}

/**
 * The largest fence of JavaScript or TypeScript in a source; if there is no such, of one that nobody knows. Else the
 * source as it is.
 */
export function unfence(source: string): Unfenced {
  if (!/^ {0,3}```/m.test(source)) return { source }
  const lines = source.split('\n')
  const blocks = blocksOf(lines)
  const ours = blocks.filter(({ info }) => CODE.has(info) || TYPED.has(info))
  const [block] = (ours.length > 0 ? ours : blocks).sort((a, b) => b.size - a.size || a.from - b.from)
  if (block === undefined) return { source }
  const { from, to, info } = block
  if (FOREIGN.has(info)) return { source, foreign: { language: info, line: from } }
  const kept = lines.map((line, i) => (i >= from && i < to ? line : '')).slice(0, to)
  return {
    source: kept.join('\n'),
    ...(info !== '' && { language: TYPED.has(info) ? ('ts' as const) : ('js' as const) }),
  }
}

/** One that is open at the end was cut off there. None begins in a comment. */
function blocksOf(lines: readonly string[]): Block[] {
  const blocks: Block[] = []
  let open: { readonly ticks: number; readonly info: string; readonly from: number } | undefined
  let commented = false
  const close = (to: number): void => {
    if (open === undefined) return
    const size = lines.slice(open.from, to).reduce((sum, line) => sum + line.length, 0)
    blocks.push({ info: open.info, from: open.from, to, size })
    open = undefined
  }
  for (const [i, raw] of lines.entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    const [, ticks = '', info = ''] = FENCE.exec(line) ?? []
    if (open !== undefined) {
      if (ticks.length >= open.ticks && info.trim() === '') close(i)
    } else if (ticks !== '' && !commented) {
      open = { ticks: ticks.length, info: /^\s*([\w+#-]*)/.exec(info)?.[1]?.toLowerCase() ?? '', from: i + 1 }
    } else {
      const last = line.lastIndexOf(commented ? '*/' : '/*')
      if (commented) commented = last < 0
      else commented = last >= 0 && !line.includes('*/', last)
    }
  }
  close(lines.length)
  return blocks
}
