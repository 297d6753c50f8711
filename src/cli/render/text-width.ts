/** How wide lines for people are. */
import type { CliOutput } from '../cli-io.ts'

const NARROWEST = 30
/** Beyond it, an eye loses the line. */
const WIDEST = 110

/** In columns, one fewer than there are: some terminals break a line that fills theirs. */
export function textWidth({ columns }: Pick<CliOutput, 'columns'>): number {
  return Math.max(NARROWEST, Math.min(columns - 1, WIDEST))
}
