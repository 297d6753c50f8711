/** The promised figures as a table: value, bounds, verdict. */
import type { Figure } from './figures.ts'
import { formatRatio } from './harness/print.ts'
import { tableLines, wrap } from './harness/table.ts'

function bound({ sense }: Figure, limit: number): string {
  return `${sense === 'cost' ? '<=' : '>='} ${formatRatio(limit)}`
}

/** Ends in an empty line. `width` in characters. */
export function figureLines(figures: readonly Figure[], width: number): string[] {
  return [
    '== figures',
    ...wrap('Ratios between subjects of this run, by CPU time where both sides have it.', width),
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
        figure.base,
        figure.value === undefined ? '-' : formatRatio(figure.value),
        bound(figure, figure.atLeast),
        bound(figure, figure.aim),
        figure.verdict,
      ]),
      width,
    ),
    '',
  ]
}
