/**
 * Real processes on Postgres, killed at random moments: what was acknowledged is there. Nobody knows that a holder died
 * before its time is over, so each has a schema of its own. More often in the long run.
 */
import { expect, inject, it } from 'vitest'
import { openStoreChildren } from './child-process.ts'
import { killedForEver } from './killed-for-ever.ts'

it('1: nothing acknowledged is lost at any moment', { timeout: 120_000 }, async () => {
  await using children = await openStoreChildren()
  for (let round = 0; round < 2; round++) {
    const place = `${inject('postgresUrl')}#killed_${process.pid}_${round}`
    const [entries] = await killedForEver(children, [place], 1)
    expect(entries).toBeGreaterThan(0)
  }
})
