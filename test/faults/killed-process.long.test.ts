/** A process that appends and checkpoints for ever, killed at 200 random moments, always in the same folder. */
import { expect, it } from 'vitest'
import { openStoreChildren } from './child-process.ts'
import { killedForEver } from './killed-for-ever.ts'

it('1: nothing acknowledged is lost at any moment, crash after crash', { timeout: 900_000 }, async () => {
  await using children = await openStoreChildren()
  expect(await killedForEver(children, children.folder(), 200)).toBeGreaterThan(200)
})
