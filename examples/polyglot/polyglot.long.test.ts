/** The example as it is documented: long, because it prepares CPython. */
import { expect, test } from 'vitest'
import { runPolyglot } from './main.ts'

test('JavaScript, C, AssemblyScript and Python exchange values and a file, and all of it is done again', async () => {
  const { status, output, rows, verified, executed } = await runPolyglot()
  expect(output).toEqual({
    median: 9.5,
    python: { mean: 15.5, rows: 4 },
    csv: 'NAME,PRICE\nBOLT,12\nHAMMER,40\nNUT,7\nWASHER,3\n',
  })
  expect([status, verified]).toEqual(['completed', true])
  expect(executed).toBe(8)
  expect(rows.filter(([, kind]) => kind === 'component' || kind === 'module')).toHaveLength(7)
}, 300_000)
