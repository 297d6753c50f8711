/**
 * A fixed series of steps on a store, and what must be in it after any number of them.
 *
 * A step that was acknowledged has happened; one that was not has happened as a whole or not at all.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Digest, sha256 } from '../../src/base/digest.ts'
import { CaissonError } from '../../src/base/errors.ts'
import type { RunLease, RunStore } from '../../src/ports/run-store.ts'

export type Step =
  | { readonly do: 'append'; readonly run: string; readonly entries: readonly string[] }
  | { readonly do: 'put'; readonly content: string }
  /** Names checkpoints by their contents. */
  | { readonly do: 'head'; readonly run: string; readonly chain: readonly string[] }
  | { readonly do: 'renew' | 'release' | 'remove'; readonly run: string }
  | { readonly do: 'collect' }

const BIG = 'b'.repeat(300_000)

/** Two runs that grow, one that is removed and begins anew, one log too large to be copied on. */
export const STORY: readonly Step[] = [
  { do: 'append', run: 'r', entries: ['r0', 'r1'] },
  { do: 'put', content: 'first' },
  { do: 'head', run: 'r', chain: ['first'] },
  { do: 'append', run: 'r', entries: ['r2'] },
  { do: 'append', run: 'r', entries: ['r3'.repeat(400), 'r4'] },
  { do: 'put', content: 'second' },
  { do: 'head', run: 'r', chain: ['second', 'first'] },
  { do: 'put', content: 'second' },
  { do: 'renew', run: 'r' },
  { do: 'append', run: 'gone', entries: ['g0'] },
  { do: 'head', run: 'gone', chain: ['first'] },
  { do: 'release', run: 'r' },
  { do: 'append', run: 'r', entries: ['r5'] },
  { do: 'put', content: 'alone' },
  { do: 'head', run: 'r', chain: ['alone'] },
  { do: 'remove', run: 'gone' },
  { do: 'put', content: 'loose' },
  { do: 'collect' },
  { do: 'append', run: 'gone', entries: ['g0 again'] },
  { do: 'head', run: 'gone', chain: ['alone'] },
  { do: 'put', content: 'x'.repeat(5_000) },
  { do: 'head', run: 'r', chain: ['x'.repeat(5_000), 'alone'] },
  { do: 'append', run: 'r', entries: ['r6'] },
  { do: 'remove', run: 'gone' },
  { do: 'collect' },
  { do: 'append', run: 'big', entries: [BIG] },
  { do: 'release', run: 'big' },
  { do: 'append', run: 'big', entries: ['after'] },
]

interface RunPicture {
  readonly log: readonly string[]
  readonly version: number
  readonly position: number
  readonly chain: readonly string[]
}

/** What is in a store, by contents. */
export interface Picture {
  readonly runs: Readonly<Record<string, RunPicture>>
  /** Checkpoints that must be there. */
  readonly contents: readonly string[]
}

const NO_RUN: RunPicture = { log: [], version: 0, position: 0, chain: [] }

/** What must be in the store after so many steps. */
export function pictureAfter(steps: number): Picture {
  return PICTURES[steps] as Picture
}

const PICTURES: readonly Picture[] = Array.from({ length: STORY.length + 1 }, (_, steps) =>
  pictureOf(STORY.slice(0, steps)),
)

function pictureOf(steps: readonly Step[]): Picture {
  const runs: Record<string, RunPicture> = {}
  let contents = new Set<string>()
  for (const step of steps) {
    switch (step.do) {
      case 'append': {
        const run = runs[step.run] ?? NO_RUN
        runs[step.run] = { ...run, log: [...run.log, ...step.entries] }
        break
      }
      case 'head': {
        const run = runs[step.run] ?? NO_RUN
        runs[step.run] = { ...run, version: run.version + 1, position: run.log.length, chain: step.chain }
        break
      }
      case 'put':
        contents.add(step.content)
        break
      case 'remove':
        delete runs[step.run]
        break
      case 'collect':
        contents = new Set(Object.values(runs).flatMap(({ chain }) => chain))
        break
      case 'renew':
      case 'release':
        break
    }
  }
  return { runs, contents: [...contents].sort() }
}

/** Does steps on a store. Leases are taken when they are needed, as soon as they can be had. */
export class StoryTeller {
  readonly #store: RunStore
  readonly #leases = new Map<string, RunLease>()
  /** Called when somebody else holds a run, with the time to wait. */
  readonly #wait: (ms: number) => void | Promise<void>

  constructor(store: RunStore, wait: (ms: number) => void | Promise<void>) {
    this.#store = store
    this.#wait = wait
  }

  /**
   * Does the steps from number `from` on, up to number `end`.
   * @param told is called after each, with its number
   */
  async tell(
    from: number = 0,
    end: number = STORY.length,
    told: (index: number) => void = () => {},
  ): Promise<void> {
    for (const [offset, step] of STORY.slice(from, end).entries()) {
      await this.perform(step, pictureAfter(from + offset))
      told(from + offset)
    }
  }

  /** @param before what is in the store; only appending and setting heads depends on it */
  async perform(step: Step, before: Picture = pictureAfter(0)): Promise<void> {
    try {
      await this.#perform(step, before)
    } catch (error) {
      if (CaissonError.is(error, 'lease_lost') && 'run' in step) this.#leases.delete(step.run)
      throw error
    }
  }

  async #perform(step: Step, before: Picture): Promise<void> {
    const store = this.#store
    switch (step.do) {
      case 'append': {
        const at = before.runs[step.run]?.log.length ?? 0
        await store.append(step.run, at, step.entries.map(encode), await this.#lease(step.run))
        return
      }
      case 'head': {
        const { version, log } = before.runs[step.run] ?? NO_RUN
        const chain = step.chain.map(idOf)
        const head = { version: version + 1, chain, position: log.length, summary: encode(step.run) }
        await store.setHead(step.run, head, await this.#lease(step.run))
        return
      }
      case 'put':
        await store.putBlob(idOf(step.content), encode(step.content))
        return
      case 'remove':
        await store.remove(step.run, await this.#lease(step.run))
        this.#leases.delete(step.run)
        return
      case 'renew':
        await (await this.#lease(step.run)).renew(TTL_MS)
        return
      case 'release':
        await (await this.#lease(step.run)).release()
        this.#leases.delete(step.run)
        return
      case 'collect':
        await store.collect({ graceMs: 0 })
    }
  }

  async #lease(run: string): Promise<RunLease> {
    const known = this.#leases.get(run)
    if (known !== undefined) return known
    for (let attempt = 0; ; attempt++) {
      try {
        const lease = await this.#store.lease(run, TTL_MS)
        this.#leases.set(run, lease)
        return lease
      } catch (error) {
        if (!CaissonError.is(error, 'store_conflict') || attempt === 20) throw error
        await this.#wait((error.details as { retryAfterMs: number }).retryAfterMs)
      }
    }
  }
}

/** Of every lease in the story. */
const TTL_MS = 60_000

/** What is in a store, as far as heads and logs tell, and those of `contents` that are there. */
async function takePicture(store: RunStore, contents: readonly string[]): Promise<Picture> {
  const runs: Record<string, RunPicture> = {}
  const there = new Set<string>()
  for (const run of await store.runs()) {
    const head = await store.head(run)
    // Twice: what a store remembers of the first time must not change the second.
    await store.entries(run, 0, 1_000)
    const log = (await store.entries(run, 0, 1_000)).map(decode)
    const chain = (head?.chain ?? []).map((id) => CONTENTS.get(id) ?? id)
    runs[run] = { log, version: head?.version ?? 0, position: head?.position ?? 0, chain }
    for (const content of chain) there.add(content)
  }
  for (const content of contents) there.add(content)
  const found: string[] = []
  for (const content of there) {
    const bytes = await store.getBlob(idOf(content))
    if (bytes !== undefined) found.push(decode(bytes) === content ? content : `damaged: ${decode(bytes)}`)
  }
  return { runs, contents: found.sort() }
}

/** What somebody finds who looks into a store. */
export interface Finding {
  /** What is wrong; undefined when all is well. */
  readonly problem: string | undefined
  /** How many steps have happened: as many as were acknowledged, or one more. */
  readonly done: number
}

/**
 * Looks into a store in which the first `acknowledged` steps were acknowledged and the next may have happened. Never
 * rejects: that it cannot be read is a problem too.
 */
export async function lookInto(store: RunStore, acknowledged: number): Promise<Finding> {
  const before = pictureAfter(acknowledged)
  const after = pictureAfter(Math.min(acknowledged + 1, STORY.length))
  const needed = before.contents.filter((content) => after.contents.includes(content))
  let found: Picture
  try {
    found = await takePicture(store, needed)
  } catch (error) {
    return { problem: `step ${acknowledged}: ${String((error as Error).stack)}`, done: acknowledged }
  }
  const fits = [before, after].find(({ runs }) => isDeepStrictEqual(runs, found.runs))
  const done = fits === undefined || fits === before ? acknowledged : acknowledged + 1
  if (fits === undefined) {
    const problem = `${show(found.runs)} is neither ${show(before.runs)} nor ${show(after.runs)}`
    return { problem: `step ${acknowledged}: ${problem}`, done }
  }
  const chains = Object.values(fits.runs).flatMap(({ chain }) => chain)
  const missing = [...needed, ...chains].filter((content) => !found.contents.includes(content))
  const problem = missing.length === 0 ? undefined : `step ${acknowledged}: ${show(missing)} is missing`
  return { problem, done }
}

function show(value: unknown): string {
  return JSON.stringify(value).replaceAll(/(..)\1{20,}/g, '$1…')
}

/** The contents of all checkpoints, by their names. */
const CONTENTS: ReadonlyMap<Digest, string> = new Map(
  STORY.flatMap((step) => (step.do === 'put' ? [[sha256(encode(step.content)), step.content] as const] : [])),
)
const IDS: ReadonlyMap<string, Digest> = new Map([...CONTENTS].map(([id, content]) => [content, id]))

function idOf(content: string): Digest {
  return IDS.get(content) ?? sha256(encode(content))
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
