/** What a kept run weighs follows from what it did: nothing that a guest leaves open is written again and again. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, type RunStore } from '../../src/entry/node.ts'
import { boundStore } from '../checkpoints/bound-store.ts'
import { openBank } from './bank.ts'

const KiB = 1024

/** A store that says how many bytes it was given. */
function weighed(): {
  readonly store: RunStore
  readonly written: { log: number; blobs: number; last: number }
} {
  const whole = createMemoryRunStore()
  const written = { log: 0, blobs: 0, last: 0 }
  const store: RunStore = {
    ...boundStore(whole),
    append(run, at, entries, lease) {
      for (const { length } of entries) written.log += length
      return whole.append(run, at, entries, lease)
    },
    putBlob(id, bytes) {
      written.blobs += bytes.length
      written.last = bytes.length
      return whole.putBlob(id, bytes)
    },
  }
  return { store, written }
}

/** Is not answered while the run lives. */
const never = capability({
  name: 'bank.never',
  description: 'Never answers',
  effect: 'write',
  invoke: () => new Promise(() => {}),
})

/** Is answered when a checkpoint that is being written may be there. */
const later = capability({
  name: 'bank.later',
  description: 'Answers later',
  effect: 'read',
  invoke: (n: unknown) => new Promise((resolve) => setTimeout(resolve, 8, n)),
})

describe('large calls that are left open', () => {
  const LARGE = 600 * KiB
  const OPENS = `bank.never('x'.repeat(${LARGE}));`
  const LOOKS = 'for (let i = 0; i < 30; i++) await bank.later(i); return 1'

  it('are not written again with every checkpoint', async () => {
    const bank = openBank(never, later)
    const { store, written } = weighed()
    const runtime = await bank.open(store)
    const outcome = await runtime.run(OPENS + LOOKS, { run: 'r', grants: bank.grants, atEnd: 'drop' })
    expect(outcome).toMatchObject({ status: 'completed' })
    expect(written.log + written.blobs).toBeLessThan(5 * LARGE)
  })

  it('nor in a later life of the run, and it is still gone on with from where it was', async () => {
    const stops = capability({
      name: 'bank.stop',
      description: 'Breaks the run off',
      effect: 'read',
      invoke: () => stop.abort(),
    })
    const bank = openBank(never, later, stops)
    const { store, written } = weighed()
    const runtime = await bank.open(store)
    const { grants } = bank
    const stop = new AbortController()
    const source = `${OPENS} await bank.later(0); await bank.stop(); ${LOOKS}`
    await runtime.run(source, { run: 'r', grants, signal: stop.signal, atEnd: 'drop' })
    const before = written.log + written.blobs
    expect(await runtime.resume('r', { grants })).toMatchObject({ status: 'completed', value: 1 })
    expect(written.log + written.blobs - before).toBeLessThan(3 * LARGE)
  })
})

it('what a guest logged and rejected is not written again with every checkpoint', async () => {
  const bank = openBank(later)
  const { store, written } = weighed()
  const runtime = await bank.open(store)
  const source = `
    let seed = 1
    const noise = (n) => Array.from({ length: n }, () => (seed = (seed * 48271) % 0x7fffffff).toString(36)).join('')
    for (let i = 0; i < 20; i++) console.log(noise(1500))
    for (let i = 0; i < 50; i++) Promise.reject(new Error(noise(300)))
    for (let i = 0; i < 12; i++) await bank.later(i)
    return 1`
  const outcome = await runtime.run(source, { run: 'r', grants: bank.grants, stopAtCall: 12 })
  expect(outcome).toMatchObject({ status: 'suspended', usage: { logsDropped: 0 } })
  expect(written.blobs).toBeGreaterThan(100 * KiB)
  expect(written.last).toBeLessThan(20 * KiB)
})
