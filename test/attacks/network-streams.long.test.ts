/** The hoard of `network-streams.test.ts`, fifty times as many. */
import { expect, it } from 'vitest'
import { hoard } from '../guest/streamed-bodies.testkit.ts'

it('10,000 answers whose bodies nobody reads hold few connections', { timeout: 600_000 }, async () => {
  const { outcome, most, left } = await hoard(10_000)
  expect(outcome).toMatchObject({ status: 'completed', value: 'done' })
  expect([most <= 16 + 16, left]).toEqual([true, 0])
})
