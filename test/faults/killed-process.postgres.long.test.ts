/** As `killed-process.postgres.test.ts`, 100 times. */
import { expect, inject, it } from 'vitest'
import { openStoreChildren } from './child-process.ts'
import { killedForEver } from './killed-for-ever.ts'

it('1: nothing acknowledged is lost at any moment', { timeout: 900_000 }, async () => {
  await using children = await openStoreChildren()
  for (let round = 0; round < 100; round++) {
    const place = `${inject('postgresUrl')}#often_killed_${process.pid}_${round}`
    const [entries] = await killedForEver(children, [place], 1)
    expect(entries).toBeGreaterThan(0)
  }
})
