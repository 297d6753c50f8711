/**
 * Capabilities that are others in the next life of a run: of another effect, schema or kind, under other grants, or gone
 * for a while. What was approved and recorded is what is made again, and what may be made again needs both lives to say so.
 */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import {
  type Approver,
  type Capability,
  capability,
  type Grant,
  type Outcome,
  type RunStore,
} from '../../src/entry/node.ts'
import { boundStore } from '../checkpoints/bound-store.ts'
import { endOf, openBank } from './bank.ts'

type Definition = Readonly<Record<string, unknown>>

const made: unknown[] = []

/** `bank.move` as one life of the run knows it. */
const move = (definition: Definition = {}): Capability =>
  capability({
    name: 'bank.move',
    description: 'Moves money',
    effect: 'write',
    invoke: (args: unknown) => {
      made.push(args)
      return 'moved'
    },
    ...definition,
  } as unknown as Parameters<typeof capability>[0])

const GRANTS: readonly (string | Grant)[] = ['bank.look', 'bank.move']
const SOURCE = 'await bank.look(1); return await bank.move({ n: 5 }).catch((e) => e.code)'

/** A run whose second call was let in, and of which nobody knows whether it took effect. */
async function inDoubt(
  definition: Definition = {},
  { grants = GRANTS, approver }: { grants?: typeof GRANTS; approver?: Approver } = {},
): Promise<RunStore> {
  made.length = 0
  const store = createMemoryRunStore()
  const stop = new AbortController()
  const hangs = move({
    ...definition,
    invoke: (args: unknown) => {
      made.push(args)
      setTimeout(() => stop.abort(), 1)
      return new Promise(() => {})
    },
  })
  const runtime = await openBank(hangs).open(store, {
    ...(approver && { approver }),
  })
  expect(await endOf(runtime.run(SOURCE, { grants, run: 'r', signal: stop.signal }))).toBe('aborted')
  expect(made).toHaveLength(1)
  made.length = 0
  return store
}

const FROM = ['from a checkpoint', 'from its start'] as const

/** The run as if no checkpoint of it had ever been acknowledged, where it is to go on from its start. */
function going(from: string, store: RunStore): RunStore {
  if (from !== 'from its start') return store
  const head: RunStore['head'] = async (run) => {
    const found = await store.head(run)
    return found && { ...found, chain: [], position: 0 }
  }
  return { ...boundStore(store), head }
}

interface NextLife {
  readonly grants?: typeof GRANTS
  readonly approver?: Approver
  readonly confirm?: readonly number[]
}

async function nextLife(
  store: RunStore,
  definition: Definition,
  { grants = GRANTS, approver, confirm }: NextLife = {},
): Promise<Outcome> {
  const runtime = await openBank(move(definition)).open(store, { ...(approver && { approver }) })
  return runtime.resume('r', { grants, ...(confirm && { confirm }) })
}

describe('a call that was under way', () => {
  it('and could not be made twice then stays in doubt, whatever its capability says now', async () => {
    const store = await inDoubt()
    for (const now of [{ idempotent: true }, { effect: 'read' }] as const) {
      expect(await nextLife(store, now)).toMatchObject({ status: 'suspended', inDoubt: [2] })
    }
    expect(made).toEqual([])
  })

  it('and could be made twice then is in doubt where it may not be now', async () => {
    const reads = await inDoubt({ effect: 'read' })
    expect(await nextLife(reads, { effect: 'destructive' })).toMatchObject({ status: 'suspended' })
    const idempotent = await inDoubt({ idempotent: true })
    expect(await nextLife(idempotent, { idempotent: false })).toMatchObject({ status: 'suspended' })
    expect(made).toEqual([])
    expect(await nextLife(idempotent, { idempotent: true })).toMatchObject({ value: 'moved' })
    expect(made).toEqual([{ n: 5 }])
  })

  it.each(FROM)('is not made with other arguments than were recorded (%s)', async (from) => {
    const in_ = (currency: string): Definition => ({
      idempotent: true,
      input: z.object({ n: z.number(), currency: z.string().default(currency) }),
    })
    const store = await inDoubt(in_('EUR'))
    expect(await nextLife(going(from, store), in_('USD'))).toMatchObject({ value: 'denied' })
    const confirmed = await inDoubt({ ...in_('EUR'), idempotent: false })
    expect(await nextLife(going(from, confirmed), in_('USD'), { confirm: [2] })).toMatchObject({
      value: 'denied',
    })
    expect(made).toEqual([])
    const same = await inDoubt(in_('EUR'))
    expect(await nextLife(going(from, same), in_('EUR'))).toMatchObject({ value: 'moved' })
    expect(made).toEqual([{ n: 5, currency: 'EUR' }])
  })

  it('is shown to a person whom the rules of now ask, unless one approved exactly this', async () => {
    const asked: unknown[] = []
    const approver = (decision: 'approved' | 'rejected'): Approver => ({
      approve: async ({ args, digest }) => {
        asked.push(args)
        return decision === 'approved' ? { decision, digest } : { decision, reason: 'no' }
      },
    })
    const grants = ['bank.look', { capability: 'bank.move', approve: true }]
    const unasked = await inDoubt({ idempotent: true })
    const rejected = { grants, approver: approver('rejected') }
    expect(await nextLife(unasked, { idempotent: true }, rejected)).toMatchObject({
      value: 'approval_rejected',
    })
    expect([asked.splice(0), made]).toEqual([[{ n: 5 }], []])

    const approved = await inDoubt({ idempotent: true }, { grants, approver: approver('approved') })
    expect(asked.splice(0)).toEqual([{ n: 5 }])
    expect(await nextLife(approved, { idempotent: true }, rejected)).toMatchObject({ value: 'moved' })
    expect([asked, made]).toEqual([[], [{ n: 5 }]])
  })
})

describe('a capability', () => {
  it.each(FROM)('that vanished is missed by its name, and its budget goes on (%s)', async (from) => {
    const store = createMemoryRunStore()
    made.length = 0
    const source = `
      const said = []
      for (let i = 0; i < 3; i++) said.push(await bank.move(i).catch((e) => e.code))
      return said.join()`
    const grants = ['bank.look', { capability: 'bank.move', calls: 2 }]
    const first = await openBank(move()).open(store)
    await first.run(source, { grants, run: 'r', stopAtCall: 2 })
    const without = await openBank().open(going(from, store))
    const gone = without.resume('r', { grants: ['bank.look'] })
    await expect(gone).rejects.toMatchObject({
      code: 'checkpoint_refused',
      details: { missing: ['bank.move'] },
    })
    await expect(without.resume('r', { grants })).rejects.toMatchObject({ code: 'unknown_capability' })
    expect(await nextLife(going(from, store), {}, { grants })).toMatchObject({
      value: 'moved,moved,budget_exhausted',
    })
    expect(made).toEqual([0, 1])
  })

  it.each(FROM)('whose schema has changed changes no answer that is on record (%s)', async (from) => {
    const store = createMemoryRunStore()
    made.length = 0
    const source =
      'const a = await bank.move({ n: 1 }); await bank.look(1); return [a, await bank.move({ n: 2 })]'
    const first = await openBank(move({ output: z.literal('moved') })).open(store)
    await first.run(source, { grants: GRANTS, run: 'r', stopAtCall: 3 })
    const now = { output: z.object({ ok: z.boolean() }), invoke: () => ({ ok: true }) }
    expect(await nextLife(going(from, store), now)).toMatchObject({ value: ['moved', { ok: true }] })
    expect(made).toEqual([{ n: 1 }])
  })

  it.each([
    ['awaited', 'sync', 'from a checkpoint'],
    ['awaited', 'sync', 'from its start'],
    ['sync', 'awaited', 'from a checkpoint'],
    ['sync', 'awaited', 'from its start'],
  ])('that was %s and is %s now is refused by its name (%s)', async (was, is, from) => {
    const store = createMemoryRunStore()
    made.length = 0
    const kind = (sync: boolean): Definition => ({ effect: 'read', ...(sync && { sync }) })
    const source =
      'const a = await bank.move(1); await bank.look(1); await bank.look(2); return [a, await bank.move(2)]'
    const first = await openBank(move(kind(was === 'sync'))).open(store)
    expect(await endOf(first.run(source, { grants: GRANTS, run: 'r', stopAtCall: 3 }))).toBe('suspended')
    const before = made.length
    const log = await store.entries('r', 0, 1_000)
    await expect(nextLife(going(from, store), kind(is === 'sync'))).rejects.toMatchObject({
      code: 'checkpoint_refused',
      details: { missing: ['bank.move'] },
    })
    expect(made).toHaveLength(before)
    expect(await store.entries('r', 0, 1_000)).toEqual(log)
    expect(await nextLife(going(from, store), kind(was === 'sync'))).toMatchObject({
      value: ['moved', 'moved'],
    })
  })
})
