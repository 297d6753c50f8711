/** A process that appends and checkpoints for ever, killed at random moments, always in the same place. */
import { expect } from 'vitest'
import type { StoreChildren } from './child-process.ts'
import { openStoreAt } from './store-place.ts'

interface Acknowledged {
  readonly entries: number
  readonly version: number
}

/** @returns how many entries were acknowledged in the end */
export async function killedForEver(children: StoreChildren, place: string, rounds: number): Promise<number> {
  let before: Acknowledged = { entries: 0, version: 0 }
  for (let round = 0; round < rounds; round++) before = await killOnce(children, place, before)
  return before.entries
}

async function killOnce(children: StoreChildren, place: string, before: Acknowledged): Promise<Acknowledged> {
  const child = children.start('endless', place)
  await child.started
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 80))
  child.kill()
  const { signal, errors } = await child.ended
  expect(signal, errors).toBe('SIGKILL')
  const last = (child.lines.at(-1) ?? before) as Acknowledged

  const store = await openStoreAt(place)
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
  await store.close()
  return { entries: entries.length, version: head?.version ?? 0 }
}
