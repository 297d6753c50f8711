/** The example as it is documented: long, because it prepares CPython and CRuby. */
import { expect, test } from 'vitest'
import { runPolyglot } from './main.ts'

test('JavaScript, C, AssemblyScript, Python and Ruby exchange values and a file, and all of it is done again', async () => {
  const { status, output, rows, verified, executed } = await runPolyglot()
  expect(output).toEqual({
    median: 9.5,
    python: { mean: 15.5, rows: 4 },
    ruby: { dear: ['bolt', 'hammer'], cheap: ['nut', 'washer'] },
    csv: 'NAME,PRICE\nBOLT,12\nHAMMER,40\nNUT,7\nWASHER,3\n',
  })
  expect([status, verified]).toEqual(['completed', true])
  expect(executed).toBe(9)
  expect(rows.filter(([, kind]) => kind === 'component' || kind === 'module')).toHaveLength(8)
}, 300_000)
