/** The promised figures as a table: value, bounds, verdict. */
import { type Figure, isUpperBound } from './figures.ts'
import { formatRatio } from './harness/print.ts'
import { formatQuantity, threeDigits } from './harness/quantity.ts'
import { tableLines, wrap } from './harness/table.ts'

function quantity(figure: Figure, value: number): string {
  switch (figure.sense) {
    case 'worst':
      return figure.unit === 'bytes' ? decimalBytes(value) : formatQuantity(value, figure.unit)
    case 'agreement':
      return String(value)
    default:
      return formatRatio(value)
  }
}

/** As promised sizes are: in thousands. */
function decimalBytes(bytes: number): string {
  return bytes < 1e6 ? `${threeDigits(bytes / 1e3)} kB` : `${threeDigits(bytes / 1e6)} MB`
}

function bound(figure: Figure, limit: number): string {
  return `${isUpperBound(figure) ? '<=' : '>='} ${quantity(figure, limit)}`
}

/** Ends in an empty line. `width` in characters. */
export function figureLines(figures: readonly Figure[], width: number): string[] {
  return [
    '== figures',
    ...wrap('Ratios are between subjects of this run, by CPU time where both sides have it.', width),
    '',
    ...tableLines(
      [
        { title: 'figure', align: 'left' },
        { title: 'against', align: 'left' },
        { title: 'value', align: 'right' },
        { title: 'at least', align: 'right' },
        { title: 'aim', align: 'right' },
        { title: 'verdict', align: 'left' },
      ],
      figures.map((figure) => [
        figure.what,
        'base' in figure ? figure.base : '',
        figure.value === undefined ? '-' : quantity(figure, figure.value),
        bound(figure, figure.atLeast),
        bound(figure, figure.aim),
        figure.verdict,
      ]),
      width,
    ),
    '',
  ]
}
