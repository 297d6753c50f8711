/** What tools reach is part of what is approved: no process drives a run with tools that reach further. */
import { afterEach, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { createSeededEntropy } from '../../host-bindings/system/system-entropy.ts'
import { CaissonError, openRuntime, type Plan, type PlanRun, type Runtime } from '../../src/entry/node.ts'

const PLAN: Plan = {
  format: 'plan/1',
  name: 'p',
  version: '1',
  nodes: { ask: { kind: 'approval', question: '?' } },
}

const opened: Runtime[] = []
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close()
})

it('starts, resumes and cancels with the same or fewer, and refuses others by name', async () => {
  const store = createMemoryRunStore()
  const reaching = async (...scope: readonly string[]): Promise<Runtime> => {
    const runtime = await openRuntime({ store, scope })
    opened.push(runtime)
    return runtime
  }
  const held = async (...scope: readonly string[]): Promise<PlanRun> =>
    (await reaching(...scope)).planRun('r')
  const first = await (await reaching('read /in', 'net a.example')).propose(PLAN, { by: 'ann', run: 'r' })
  for await (const { event } of first.events({ until: 'now' }))
    expect(event).toMatchObject({ type: 'proposed', scope: ['read /in', 'net a.example'] })
  await first.approve({ by: 'bob', digest: (await first.view()).request })

  const wider = await held('read /in', 'write /in')
  const acts = [
    () => wider.start({ by: 'eve' }),
    () => wider.resume({ by: 'eve' }),
    () => wider.cancel({ by: 'eve', reason: 'no' }),
  ]
  const refused = async (act: (() => Promise<void>) | undefined): Promise<void> => {
    const error: unknown = await act?.().catch((thrown: unknown) => thrown)
    expect(CaissonError.is(error) && error.details).toEqual({
      differs: 'scope',
      widened: ['write /in'],
      was: ['read /in', 'net a.example'],
    })
    expect(CaissonError.is(error) && error.code).toBe('approval_mismatch')
  }
  await refused(acts[0])
  await (await held('net a.example')).start({ by: 'bob' })
  await expect.poll(async () => (await wider.view()).status).toBe('waiting')
  await refused(acts[1])
  await refused(acts[2])
  await (await held()).cancel({ by: 'bob', reason: 'enough' })
  expect(await (await reaching()).verify('r')).toMatchObject({ ok: true })
})

it('is what the digest of a proposal stands for, too', async () => {
  /** Equal in all else, its id included. */
  const requestWith = async (scope?: readonly string[]): Promise<string> => {
    const runtime = await openRuntime({
      store: createMemoryRunStore(),
      entropy: createSeededEntropy(1),
      ...(scope && { scope }),
    })
    opened.push(runtime)
    return (await (await runtime.propose(PLAN, { by: 'ann', run: 'r' })).view()).request
  }
  const narrow = await requestWith(['read /in'])
  expect(await requestWith(['read /in'])).toBe(narrow)
  const others = [undefined, ['read /'], ['read /in', 'write /in']]
  for (const scope of others) expect(await requestWith(scope)).not.toBe(narrow)
})

it.each([5, 'text', [5], [''], ['x'.repeat(10_001)]])('a runtime is not opened with %j', async (scope) => {
  await expect(openRuntime({ scope: scope as never })).rejects.toMatchObject({
    code: 'invalid_argument',
    details: { option: 'scope' },
  })
})
