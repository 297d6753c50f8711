/** Two components that share a resource: the one owns it, the other works with handles. */
import { expect } from 'vitest'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { describeSample } from './both-builds.ts'
import { type Exports, transpile } from './transpiled.ts'

async function openOwner(wasm: Uint8Array): Promise<Exports> {
  return (await (await transpile(wasm, 'owner')).instantiate()).counters
}

await describeSample('counter-owner-c', {
  'owns counters until they are dropped': async (wasm) => {
    const { Counter, alive } = await openOwner(wasm)
    const [a, b] = [new Counter(1), new Counter(2)]
    expect([a.add(4), a.value(), b.value(), alive()]).toEqual([5, 5, 2, 2])
    const both = Counter.merge(a, b)
    expect([both.value(), alive()]).toEqual([7, 1])
    expect(() => a.value()).toThrow(Error)
  },
})

async function openUser(wasm: Uint8Array): Promise<{ user: Exports; owner: Exports }> {
  const owner = await openOwner(await readSample('counter-owner-c'))
  const user = await (await transpile(wasm, 'user')).instantiate({ 'caisson:counters/counters': owner })
  return { user, owner }
}

await describeSample('counter-user-c', {
  'borrows, takes and hands out counters of another component': async (wasm) => {
    const { user, owner } = await openUser(wasm)
    const counter = new owner.Counter(5)
    expect([user.count(counter, 3), counter.value()]).toEqual([8, 8])
    expect(user.make(4).value()).toBe(4)
    expect(user.total([new owner.Counter(1), new owner.Counter(2), user.make(3)]).value()).toBe(6)
    expect([user.keep(2), user.keep(3)]).toEqual([2, 5])
  },
  'traps where it drops a handle twice, and nobody else is hurt': async (wasm) => {
    const { user, owner } = await openUser(wasm)
    expect(() => user.dropTwice()).toThrow(Error)
    expect(new owner.Counter(9).value()).toBe(9)
  },
})
