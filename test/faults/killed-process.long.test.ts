/** A process that appends and checkpoints for ever, killed at 200 random moments, always in the same folder. */
import { expect, it } from 'vitest'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { openStoreChildren } from './child-process.ts'

interface Acknowledged {
  readonly entries: number
  readonly version: number
}

it('1: nothing acknowledged is lost at any moment, crash after crash', { timeout: 900_000 }, async () => {
  await using children = await openStoreChildren()
  const folder = children.folder()
  let before: Acknowledged = { entries: 0, version: 0 }
  for (let round = 0; round < 200; round++) {
    const child = children.start('endless', folder)
    await child.started
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 80))
    child.kill()
    const { signal, errors } = await child.ended
    expect(signal, errors).toBe('SIGKILL')
    const last = (child.lines.at(-1) ?? before) as Acknowledged

    const store = await openDirectoryRunStore(folder)
    const entries = (await store.entries('endless', 0, 1_000_000)).map((entry) =>
      new TextDecoder().decode(entry),
    )
    expect(entries).toEqual(entries.map((_, index) => `${index}`))
    expect(entries.length - last.entries).toBeOneOf([0, 1])
    const head = await store.head('endless')
    expect((head?.version ?? 0) - last.version).toBeOneOf([0, 1])
    const [id] = head?.chain ?? []
    const bytes = id && (await store.getBlob(id))
    if (head !== undefined) expect(new TextDecoder().decode(bytes)).toBe(`checkpoint ${head.version}`)
    before = { entries: entries.length, version: head?.version ?? 0 }
    await store.close()
  }
  expect(before.entries).toBeGreaterThan(200)
})
