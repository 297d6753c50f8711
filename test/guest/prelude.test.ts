/** The prelude as a whole: what is there, what is lazy, and what a guest can do to it. */
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime } from '../../src/entry/node.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import { base, engine } from '../../src/isolate/isolate.testkit.ts'

const runtime = await openRuntime()
afterAll(() => runtime.close())

async function evaluate(source: string): Promise<unknown> {
  const outcome = await runtime.run(source)
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

describe('the prelude', () => {
  it('makes the base image that the manifest names', () => {
    expect(base.pages.root()).toBe(ENGINE_MANIFEST.base)
  })

  it('adds nothing that is enumerable', async () => {
    expect(await evaluate('Object.keys(globalThis)')).toEqual([])
  })

  it('gives a lazy global once it is touched, as a data property', async () => {
    const source = `
      const before = typeof Object.getOwnPropertyDescriptor(globalThis, 'atob').get
      const first = atob
      const { value, writable, configurable, enumerable } = Object.getOwnPropertyDescriptor(globalThis, 'atob')
      return [before, value === first, writable, configurable, enumerable]`
    expect(await evaluate(source)).toEqual(['function', true, true, true, false])
  })

  it('evaluates a unit only when one of its globals is touched', async () => {
    const digest = async (source: string) => (await runtime.run(source, { stateDigest: true })).stateDigest
    expect(await digest('typeof globalThis.nothing')).not.toBe(await digest('typeof globalThis.atob'))
  })

  it('leaves a global to a guest that overwrites or deletes it', async () => {
    expect(
      await evaluate("atob = 1; delete globalThis.btoa; return [atob, typeof btoa, 'btoa' in globalThis]"),
    ).toEqual([1, 'undefined', false])
  })

  it('survives a guest that poisons every object before it touches a lazy global', async () => {
    const source = `
      Object.defineProperty(Object.prototype, 'get', { get() { throw new Error('poison') }, configurable: true })
      Object.defineProperty = Object.create = Object.keys = () => { throw new Error('poison') }
      Array.prototype[Symbol.iterator] = () => { throw new Error('poison') }
      return atob('aGk=')`
    expect(await evaluate(source)).toBe('hi')
  })

  it('shows no file of its own in the errors of a guest', async () => {
    const outcome = await runtime.run("atob('*')")
    expect(outcome).toMatchObject({ status: 'failed', error: { name: 'InvalidCharacterError' } })
    expect(JSON.stringify(outcome)).not.toContain('caisson:')
  })
})

describe('the sources of guests', () => {
  it('are those that were built', () => {
    const built = readFileSync(new URL('../../engines/current/guest.json', import.meta.url), 'utf8')
    expect(JSON.parse(built)).toEqual(engine.guest)
  })
})
