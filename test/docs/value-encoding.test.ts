/** What docs/value-encoding.md says of numbers as keys is what happens on every border. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRuntime } from '../../src/entry/node.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { decodeCanonical } from '../../src/values/decode-canonical.ts'
import { encodeCanonical } from '../../src/values/encode-canonical.ts'
import { ROOT } from './documented-pages.ts'

const page = readFileSync(join(ROOT, 'docs/value-encoding.md'), 'utf8')
const most = Number(/more than ([\d,]+) scattered numbers/.exec(page)?.[1]?.replaceAll(',', ''))
/** Figures in prose are round; the bound lies within this many keys above. */
const ROUNDED = 50

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime()
})
afterAll(() => runtime.close())

describe('a Set of scattered numbers', () => {
  const scattered = (count: number): ReadonlySet<number> =>
    new Set(Array.from({ length: count }, (_, i) => i + 0.5))
  const program = 'return new Set(Array.from({ length: input }, (_, i) => i + 0.5))'

  it('leaves a guest up to the documented number of keys', async () => {
    expect(await runtime.run(program, { input: most })).toMatchObject({ status: 'completed' })
    const refused = await runtime.run(program, { input: most + ROUNDED })
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'value_refused' } })
  })

  it('is encoded and decoded up to the documented number of keys', () => {
    expect(decodeCanonical(encodeCanonical(scattered(most)))).toEqual(scattered(most))
    expect(() => encodeCanonical(scattered(most + ROUNDED))).toThrow(
      expect.objectContaining({ code: 'value_too_large' }),
    )
  })

  it('enters a guest whatever its number', async () => {
    const outcome = await runtime.run('return input.size', { input: scattered(3 * most) })
    expect(outcome).toMatchObject({ status: 'completed', value: 3 * most })
  })

  it('is no matter where the keys are texts, or numbers side by side', async () => {
    const set = 'return new Set(Array.from({ length: input }, (_, i) => KEY))'
    for (const key of ['"key " + i', 'i * 60']) {
      const outcome = await runtime.run(set.replace('KEY', key), { input: 3 * most })
      expect(outcome, key).toMatchObject({ status: 'completed' })
    }
  })
})
