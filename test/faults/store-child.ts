/**
 * A process with stores of its own, for tests that kill it or let it race: `node store-child.mjs MODE (PLACE NUMBER)...`.
 *
 * Every acknowledged step is written to standard output, at once, as one line of JSON: the index of its task, and what
 * there is to say.
 */
import { writeSync } from 'node:fs'
import { type Digest, sha256 } from '../../src/base/digest.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { RunLease, RunStore } from '../../src/ports/run-store.ts'
import { openStoreAt } from './store-place.ts'
import { STORY, StoryTeller } from './store-story.ts'

const HOUR_MS = 3_600_000
const [, , mode = '', ...words] = process.argv

/** What is done in one place. */
interface Task {
  readonly store: RunStore
  readonly number: number
  say(line: unknown): void
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Takes the lease as soon as it can be had. */
async function lease(store: RunStore, run: string): Promise<RunLease> {
  for (;;) {
    try {
      return await store.lease(run, HOUR_MS)
    } catch (error) {
      if (!CaissonError.is(error, 'store_conflict')) throw error
      await pause(1)
    }
  }
}

async function put(store: RunStore, content: string): Promise<Digest> {
  const id = sha256(encode(content))
  await store.putBlob(id, encode(content))
  return id
}

const MODES: Readonly<Record<string, (task: Task) => Promise<void>>> = {
  /** Tells the story. The watcher below stops it before operation `number`. */
  async story({ store, say }) {
    const teller = new StoryTeller(store, pause)
    await teller.tell(0, STORY.length, say)
  },

  /** Appends its own count and checkpoints it, for ever. */
  async endless({ store, say }) {
    const held = await lease(store, 'endless')
    let version = (await store.head('endless'))?.version ?? 0
    for (let count = (await store.entries('endless', 0, 1_000_000)).length; ; count++) {
      await store.append('endless', count, [encode(`${count}`)], held)
      say({ entries: count + 1, version })
      if (count % 3 > 0) continue
      const chain = [await put(store, `checkpoint ${version + 1}`)]
      await store.setHead(
        'endless',
        { version: version + 1, chain, position: count, summary: encode('') },
        held,
      )
      version += 1
      say({ entries: count + 1, version })
      if (version % 5 === 0) await store.collect({ graceMs: 0 })
      if (version % 7 === 0) await held.renew(HOUR_MS)
    }
  },

  /** Takes the same lease as others do, `number` times, and says with which token it wrote. */
  async race({ store, number, say }) {
    for (let round = 0; round < number; round++) {
      const held = await lease(store, 'race')
      const version = ((await store.head('race'))?.version ?? 0) + 1
      const length = (await store.entries('race', 0, 1_000_000)).length
      await store.append('race', length, [encode(`${held.fencingToken}`)], held)
      await store.setHead('race', { version, chain: [], position: length + 1, summary: encode('') }, held)
      await held.release()
      say(held.fencingToken)
    }
  },

  /** Sets heads that name checkpoints which a collector may just be about to remove. */
  async checkpoint({ store, number, say }) {
    const run = `run-${process.pid}`
    const held = await lease(store, run)
    for (let version = 1; version <= number; ) {
      const chain = [await put(store, `checkpoint ${version % 5}`)]
      try {
        await store.setHead(run, { version, chain, position: 0, summary: encode('') }, held)
      } catch (error) {
        if (CaissonError.is(error, 'invalid_argument')) continue // it went before the head was set
        throw error
      }
      const there = await Promise.all(chain.map((id) => store.getBlob(id)))
      say(there.every((bytes) => bytes !== undefined))
      version += 1
    }
  },

  /** Collects until it is ended. */
  async collect({ store, say }) {
    for (;;) say((await store.collect({ graceMs: 0 })).removed)
  },
}

let stories = words.length / 2

/** Stops a story before an operation; when all of them are stopped, the process is killed. */
const stopAt =
  (number: number) =>
  (operation: number): undefined | Promise<never> => {
    if (mode !== 'story' || operation < number) return
    if (operation === number) stories -= 1
    if (stories === 0) process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  }

async function begin(index: number): Promise<void> {
  const [place = '', argument = ''] = words.slice(2 * index)
  const number = Number(argument)
  const store = await openStoreAt(place, stopAt(number))
  const say = (line: unknown): void => {
    writeSync(1, `${JSON.stringify([index, line])}\n`)
  }
  await MODES[mode]?.({ store, number, say })
}

await Promise.all(Array.from({ length: words.length / 2 }, (_, index) => begin(index)))
process.exit(0)
