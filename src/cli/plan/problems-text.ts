/** Problems of plans: each with its place, and on a terminal with the line that it is about. */
import { escapeText } from '../../base/escape-text.ts'
import type { CliOutput } from '../cli-io.ts'
import { sourceExcerpt } from '../render/source-excerpt.ts'
import { styleFor } from '../render/style.ts'
import { hangText } from '../render/wrap-text.ts'
import type { PlacedProblem } from './plan-file.ts'

/** `file:line:column: where: what`, which editors find; below it the line, if a person looks. */
export function problemsText(problems: readonly PlacedProblem[], count: number, output: CliOutput): string {
  const style = styleFor(output)
  const width = Math.max(30, output.columns - 1)
  const lines = problems.flatMap(({ file, place, at, problem, text }) => {
    const where = `${escapeText(file)}:${place.line}:${place.column}`
    const words = escapeText(`${at === '' ? '' : `${at.slice(1)}: `}${problem}`)
    if (!output.isTerminal) return [`${where}: ${words}`]
    const excerpt = text === undefined ? [] : sourceExcerpt(text, place.line, place.column, width - 2)
    return [
      style.bold(where),
      ...hangText('  ', words, width),
      ...excerpt.map((line) => style.dim(`  ${line}`)),
      '',
    ]
  })
  if (count > problems.length) lines.push(`and ${count - problems.length} more`)
  const found = count === 1 ? '1 problem' : `${count} problems`
  return `${[...lines, style.red(`The plan is refused: ${found}.`)].join('\n')}\n`
}

/** As a machine reads it. */
export function problemDocument({ file, place, at, problem, code }: PlacedProblem): object {
  return { file, line: place.line, column: place.column, at, problem, ...(code && { code }) }
}
