import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RunRegister } from './run-register.node.ts'
import { NEW_RUN, type RunState } from './run-state.node.ts'
import type { StoreFolder } from './store-folder.ts'
import { openFolder } from './store-root.node.ts'

const state = (token: number): RunState => ({ ...NEW_RUN, first: token === 0, token })

describe('the register of a run', () => {
  let path = ''
  let folder: StoreFolder
  let register: RunRegister
  beforeEach(async () => {
    path = mkdtempSync(join(tmpdir(), 'caisson-register-'))
    folder = await openFolder(path)
    register = new RunRegister(folder)
  })
  afterEach(async () => {
    await folder.close()
    rmSync(path, { recursive: true, force: true })
  })

  it('1: lets one of many replace a state', async () => {
    expect(await register.read()).toBeUndefined()
    const others = Array.from({ length: 8 }, () => new RunRegister(folder))
    const results = await Promise.all(
      others.map((other, token) => other.advance(0, { ...state(token), first: true })),
    )
    const winners = results.flatMap((result) => result ?? [])
    expect(winners).toHaveLength(1)
    expect((await register.read())?.state).toEqual(winners[0]?.state)
  })

  it('2: gives nothing to who knows an old number only, however old', async () => {
    const late = new RunRegister(folder)
    for (let number = 0; number < 12; number++)
      expect(await register.advance(number, state(number))).toBeDefined()
    for (let number = 0; number < 12; number++) expect(await late.advance(number, state(99))).toBeUndefined()
    expect(await late.read()).toEqual({ number: 12, state: state(11) })
    expect(await register.advance(12, state(12))).toBeDefined()
  })

  it('3: keeps the states before the highest for a while, and leaves nothing else behind', async () => {
    for (let number = 0; number < 20; number++) await register.advance(number, state(number))
    expect(readdirSync(path).sort()).toEqual(['state-17', 'state-18', 'state-19', 'state-20'])
  })

  it('4: does not count a state that stands alone and is not the first', async () => {
    for (let number = 0; number < 3; number++) await register.advance(number, state(number))
    for (const old of ['state-1', 'state-2']) rmSync(join(path, old))
    expect(await register.read()).toBeUndefined()
    rmSync(join(path, 'state-3'))
    // Who read the third state before that comes too late.
    expect(await register.advance(3, state(3))).toBeUndefined()
    expect(readdirSync(path)).toEqual([])
    expect(await register.advance(7, state(0))).toEqual({ number: 8, state: state(0) })
  })

  it('makes whoever is about to replace a state look again when it was touched', async () => {
    await register.advance(0, { ...state(1), first: true })
    const other = new RunRegister(folder)
    await other.touch(1)
    expect(await register.advance(1, state(2))).toBeUndefined()
    expect(await register.read()).toEqual({ number: 2, state: { ...state(1), first: true } })
    await other.touch(1) // too late, and harmless
    expect(await register.advance(2, state(2))).toEqual({ number: 3, state: state(2) })
  })

  it('refuses a state that is not what was written, and does not fall back to an older one', async () => {
    for (let number = 0; number < 3; number++) await register.advance(number, state(number))
    writeFileSync(join(path, 'state-3'), 'x')
    await expect(new RunRegister(folder).read()).rejects.toMatchObject({ code: 'corrupted' })
  })
})
