/** Guests that are put down as bytes and taken up again, through the public API. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CaissonError, capability, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { EVERY_FEATURE } from '../../src/isolate/every-feature.testkit.ts'

const asked: string[] = []
const note = (what: string): void => void asked.push(what)

const world = [
  capability({
    name: 'world.ask',
    description: 'Adds one',
    effect: 'read',
    invoke: (args: unknown) => (args as { i: number }).i + 1,
  }),
  capability({
    name: 'world.fail',
    description: 'Fails',
    effect: 'read',
    invoke: () => {
      throw new CaissonError('denied', 'No.')
    },
    expose: ['denied'],
  }),
  capability({
    name: 'bank.pay',
    description: 'Pays',
    effect: 'write',
    invoke: (args: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
      note(`pay ${String(args)} ${idempotencyKey}`)
      return 'paid'
    },
  }),
  capability({
    name: 'bank.balance',
    description: 'Looks',
    effect: 'read',
    sync: true,
    invoke: () => 7,
  }),
]
const grants = ['world.ask', 'world.fail']
/** A clock that both lives of a guest see alike. */
const clock = { now: () => Date.UTC(2026, 0, 1), monotonic: () => performance.now() }
const keys = {
  mac: { current: { id: 'm1', bytes: new Uint8Array(32).fill(1) } },
  encryption: { current: { id: 'e1', bytes: new Uint8Array(32).fill(2) } },
}

let here: Runtime
let there: Runtime
beforeAll(async () => {
  here = await openRuntime({ capabilities: world, clock })
  there = await openRuntime({ capabilities: world, clock })
})
afterAll(async () => {
  await here.close()
  await there.close()
})

describe.each(['host', 'worker'] as const)('a guest that is moved, in the thread "%s"', (thread) => {
  it('ends as one that never was, from each of its calls', async () => {
    const straight = await here.start(EVERY_FEATURE, { grants, seed: 1, thread })
    const ids: number[] = []
    while (straight.outcome === undefined) {
      ids.push(straight.pending[0]?.id ?? 0)
      await straight.invoke(ids.at(-1) ?? 0)
    }
    expect(straight.outcome.status).toBe('completed')
    for (const at of ids) {
      let guest = await here.start(EVERY_FEATURE, { grants, seed: 1, thread })
      for (const id of ids) {
        if (id === at) {
          const bytes = await guest.checkpoint()
          guest.dispose()
          guest = await there.restore(bytes, { grants, thread })
        }
        await guest.invoke(id)
      }
      const { wallMs: _, idleMs: __, ...usage } = guest.outcome?.usage ?? straight.outcome.usage
      expect(guest.outcome).toMatchObject({ ...straight.outcome, usage })
    }
  })

  it('draws the numbers that it would have drawn, or others where it is told to fork', async () => {
    const DRAW = 'Math.random(); await world.ask({ i: 1 }); return [Math.random(), crypto.randomUUID()]'
    const guest = await here.start(DRAW, { grants, seed: 1, thread })
    const bytes = await guest.checkpoint()
    const draw = async (fork?: string): Promise<unknown> => {
      const again = await there.restore(bytes, { grants, thread, ...(fork !== undefined && { fork }) })
      const outcome = await again.finish()
      return outcome.status === 'completed' ? outcome.value : outcome
    }
    const straight = await guest.finish()
    expect(straight).toMatchObject({ status: 'completed', value: await draw() })
    const forks = [await draw(), await draw('a'), await draw('b'), await draw('')] as unknown[][]
    expect(new Set(forks.flat()).size).toBe(8)
    expect(await draw('a')).toEqual(forks[1])
    await expect(here.resume('r', { fork: 'a' } as never)).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('can be finished in one go', async () => {
    const guest = await here.start(EVERY_FEATURE, { grants, seed: 1, thread })
    const again = await there.restore(await guest.checkpoint(), { grants, thread })
    guest.dispose()
    expect(again.pending.map(({ id }) => id)).toEqual([1])
    expect(await again.finish()).toMatchObject({ status: 'completed', value: { sum: 27n } })
  })
})

describe('a restored guest', () => {
  const PAY =
    'const before = bank.balance(); const answer = await bank.pay(5); return [before, answer, bank.balance()]'
  const all = ['bank.pay', 'bank.balance']

  it('does not make a call again that may have taken effect, unless somebody says so', async () => {
    const guest = await here.start(PAY, { grants: all })
    const bytes = await guest.checkpoint()
    await guest.invoke(2)
    const [first] = asked.splice(0)
    const again = await there.restore(bytes, { grants: all })
    expect(again.inDoubt).toEqual([2])
    await expect(again.invoke(2)).rejects.toMatchObject({ code: 'in_doubt' })
    expect(await again.finish()).toMatchObject({ status: 'suspended', inDoubt: [2], pending: [{ id: 2 }] })
    expect(asked).toEqual([])

    const confirmed = await there.restore(bytes, { grants: all })
    await confirmed.invoke(2, { confirm: true })
    expect(confirmed.outcome).toMatchObject({ value: [7, 'paid', 7] })
    expect(asked.splice(0)).toEqual([first])

    const answered = await there.restore(bytes, { grants: all })
    await answered.settle(2, 'was paid')
    expect(answered.outcome).toMatchObject({ value: [7, 'was paid', 7] })
    expect(asked).toEqual([])
  })

  it('keeps its console lines, its usage and its limits', async () => {
    const source = 'console.log("a"); await world.ask({ i: 1 }); console.log("b"); while (1);'
    const guest = await here.start(source, { grants, limits: { fuel: 5_000_000 } })
    const used = await here.start('console.log("a"); await world.ask({ i: 1 })', { grants })
    const bytes = await guest.checkpoint()
    const again = await there.restore(bytes, { grants })
    const outcome = await again.finish()
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'fuel' })
    expect(outcome.logs.map(({ text }) => text)).toEqual(['a', 'b'])
    expect(outcome.usage.fuel).toBeLessThan(5_100_000)
    used.dispose()
  })

  it('takes wider limits only from whom has the key, or from the embedder', async () => {
    const source = 'await world.ask({ i: 1 }); for (let i = 0; i < 1e5; i++); return 1'
    const small = { fuel: 2_000_000 }
    const bytes = await (await here.start(source, { grants })).checkpoint()
    const narrow = await openRuntime({ capabilities: world, limits: small })
    expect(await (await narrow.restore(bytes, { grants })).finish()).toMatchObject({ limit: 'fuel' })
    const wide = await narrow.restore(bytes, { grants, limits: { fuel: 1e9 } })
    expect(await wide.finish()).toMatchObject({ value: 1 })
    await narrow.close()
    const [trusting, other] = await Promise.all([
      openRuntime({ capabilities: world, checkpoints: { keys } }),
      openRuntime({ capabilities: world, checkpoints: { keys }, limits: small }),
    ])
    const signed = await (await trusting.start(source, { grants })).checkpoint()
    expect(await (await other.restore(signed, { grants })).finish()).toMatchObject({ value: 1 })
    await trusting.close()
    await other.close()
  })

  it('is refused under other grants, tenants, principals and keys, by name', async () => {
    const guest = await here.start('await world.ask({ i: 1 })', { grants, domain: 'a', principal: 'ann' })
    const bytes = await guest.checkpoint()
    const refused = async (options: object): Promise<unknown> =>
      there.restore(bytes, { grants, domain: 'a', principal: 'ann', ...options }).then(
        () => 'restored',
        (error: unknown) => (CaissonError.is(error) ? [error.code, error.message] : error),
      )
    expect(await refused({})).toBe('restored')
    expect(await refused({ grants: ['world.ask'] })).toEqual([
      'checkpoint_refused',
      expect.stringContaining('world.fail'),
    ])
    expect(await refused({ grants: [...grants, 'bank.pay'] })).toEqual([
      'checkpoint_refused',
      expect.stringContaining('bank.pay'),
    ])
    expect(await refused({ domain: 'b' })).toEqual(['checkpoint_refused', expect.any(String)])
    expect(await refused({ principal: 'bob' })).toEqual(['checkpoint_refused', expect.any(String)])
    const keyed = await openRuntime({ capabilities: world, checkpoints: { keys } })
    await expect(keyed.restore(bytes, { grants, domain: 'a', principal: 'ann' })).rejects.toMatchObject({
      code: 'checkpoint_refused',
    })
    await keyed.close()
  })

  it('never lets a secret out of the process unencrypted', async () => {
    const source =
      'const secret = "hush" + "-hush-" + "hush"; await world.ask({ i: secret.length }); return secret'
    const plain = await here.start(source, { grants, label: 'secret' })
    await expect(plain.checkpoint()).rejects.toMatchObject({ code: 'encryption_required' })
    const keyed = await openRuntime({ capabilities: world, checkpoints: { keys } })
    const bytes = await (await keyed.start(source, { grants, label: 'secret' })).checkpoint()
    expect(Buffer.from(bytes).includes('hush')).toBe(false)
    const again = await keyed.restore(bytes, { grants })
    expect(await again.finish()).toMatchObject({ value: 'hush-hush-hush' })
    await expect(there.restore(bytes, { grants })).rejects.toMatchObject({
      code: expect.stringMatching(/checkpoint_refused|encryption_required/),
    })
    await keyed.close()
  })

  it('is small: a checkpoint of a small guest takes some kilobytes', async () => {
    const guest = await here.start('let n = 0; for (;;) n += await world.ask({ i: n })', { grants })
    expect((await guest.checkpoint()).length).toBeLessThan(25_000)
    guest.dispose()
  })

  it('cannot be checkpointed after its end', async () => {
    const guest = await here.start('return 1')
    await expect(guest.checkpoint()).rejects.toMatchObject({ code: 'isolate_destroyed' })
  })
})
