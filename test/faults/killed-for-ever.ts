/** Processes that append and checkpoint for ever, killed at random moments, always in the same places. */
import { expect } from 'vitest'
import type { StoreChildren } from './child-process.ts'
import { openStoreAt } from './store-place.ts'

interface Acknowledged {
  readonly entries: number
  readonly version: number
}

/** Longest life of a process after its first step. */
const LONGEST_MS = 80

/**
 * @param places which one process after the other writes to, all at once
 * @returns how many entries were acknowledged in each of them in the end
 */
export async function killedForEver(
  children: StoreChildren,
  places: readonly string[],
  rounds: number,
): Promise<readonly number[]> {
  let before: readonly Acknowledged[] = places.map(() => ({ entries: 0, version: 0 }))
  for (let round = 0; round < rounds; round++) before = await killOnce(children, places, before)
  return before.map(({ entries }) => entries)
}

async function killOnce(
  children: StoreChildren,
  places: readonly string[],
  before: readonly Acknowledged[],
): Promise<readonly Acknowledged[]> {
  const child = children.start('endless', ...places.map((place) => ({ place })))
  await child.started
  await new Promise((resolve) => setTimeout(resolve, Math.random() * LONGEST_MS))
  child.kill()
  const { signal, errors } = await child.ended
  expect(signal, errors).toBe('SIGKILL')
  const after: Acknowledged[] = []
  for (const [index, place] of places.entries()) {
    after.push(await lookAfterKill(place, (child.lines[index]?.at(-1) ?? before[index]) as Acknowledged))
  }
  return after
}

async function lookAfterKill(place: string, last: Acknowledged): Promise<Acknowledged> {
  const store = await openStoreAt(place)
  const entries = await store.entries('endless', 0, 1_000_000)
  const decoder = new TextDecoder()
  expect(entries.findIndex((entry, index) => decoder.decode(entry) !== `${index}`)).toBe(-1)
  expect(entries.length - last.entries).toBeOneOf([0, 1])
  const head = await store.head('endless')
  expect((head?.version ?? 0) - last.version).toBeOneOf([0, 1])
  const [id] = head?.chain ?? []
  const bytes = id && (await store.getBlob(id))
  if (head !== undefined) expect(new TextDecoder().decode(bytes)).toBe(`checkpoint ${head.version}`)
  await store.close()
  return { entries: entries.length, version: head?.version ?? 0 }
}
