/** Colours, where the reader is a terminal that wants them. */
import type { CliOutput } from '../cli-io.ts'

type Paint = (text: string) => string

export interface Style {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
}

const plain: Paint = (text) => text
const paint =
  (on: number, off: number): Paint =>
  (text) =>
    `\x1b[${on}m${text}\x1b[${off}m`

const PLAIN: Style = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain }
const COLOURED: Style = {
  bold: paint(1, 22),
  dim: paint(2, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
  cyan: paint(36, 39),
}

/** Text that is painted must be escaped before. */
export function styleFor(output: CliOutput): Style {
  return output.colours ? COLOURED : PLAIN
}
