/** What people wrote over calls of programs reaches the programs: edits and comments, in whatever process they go on. */
import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { createApprovalCapabilities } from '../../src/entry/bindings.ts'
import {
  type CallDecision,
  capability,
  openRuntime,
  type Plan,
  type PlanRun,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'
import { boundStore as bound } from '../checkpoints/bound-store.ts'

let sent: unknown[] = []
const opened: Runtime[] = []
afterEach(async () => {
  sent = []
  for (const runtime of opened.splice(0)) await runtime.close()
})

const send = capability({
  name: 'mail.send',
  description: 'Sends something',
  effect: 'write',
  invoke: async (input: unknown) => {
    sent.push(input)
    return { number: sent.length }
  },
})

async function open(options: RuntimeOptions): Promise<Runtime> {
  const capabilities = [send, ...createApprovalCapabilities()]
  const runtime = await openRuntime({ capabilities, ...options })
  opened.push(runtime)
  return runtime
}

const SOURCE = `
  const first = await mail.send({ to: 'ada' })
  const heard = await approvals.list({})
  const second = await mail.send({ to: 'bob', because: heard.at(-1).comment })
  const refused = await mail.send({ to: 'eve' }).catch(({ details }) => details)
  return { first, second, refused, heard: await approvals.list({}) }`

function planOf(source: string): Plan {
  const grants = [{ capability: 'mail.send', approve: true }, 'approvals.list']
  return {
    format: 'plan/1',
    name: 'mail',
    version: '1',
    grants,
    nodes: { main: { kind: 'program', source, grants } },
    output: { $from: 'main' },
  }
}

async function decideNext(run: PlanRun, how: object): Promise<void> {
  const [request, ...more] = await run.requests()
  if (request === undefined || more.length > 0) throw new Error(`${more.length + 1} are open.`)
  await run.decide({ request: request.digest, by: 'ann', ...how } as never)
  await run.resume({ by: 'ann', unseen: true })
  await run.outcome()
}

describe.each([
  ['from its start', {}],
  // What was decided before the checkpoint that it goes on from is known all the same.
  ['from a checkpoint at each call', { checkpoints: { every: { calls: 1 } } }],
])('a program of a plan that goes on %s', (_, options: RuntimeOptions) => {
  it('gets the result of what was edited, and hears of it, and of comments', async () => {
    const store = createMemoryRunStore()
    const started = await (await open({ store, ...options })).propose(planOf(SOURCE), {
      by: 'model',
      run: 'r',
    })
    await started.approve({ by: 'ann', digest: (await started.view()).request })
    await started.start({ by: 'ann' })
    await started.outcome()
    const anew = async (): Promise<PlanRun> => (await open({ store, ...options })).planRun('r')

    await decideNext(await anew(), { decision: 'approve', value: { to: 'adam' }, comment: 'not ada' })
    await decideNext(await anew(), { decision: 'approve' })
    await decideNext(await anew(), { decision: 'reject', reason: 'never', comment: 'ask me' })

    const outcome = await (await anew()).outcome()
    expect(sent).toEqual([{ to: 'adam' }, { to: 'bob', because: 'not ada' }])
    const heard: CallDecision[] = [
      { call: 1, capability: 'mail.send', args: { to: 'adam' }, edited: true, by: 'ann', comment: 'not ada' },
      {
        call: 3,
        capability: 'mail.send',
        args: { to: 'bob', because: 'not ada' },
        edited: false,
        by: 'ann',
        comment: '',
      },
    ]
    expect(outcome).toMatchObject({
      status: 'completed',
      output: {
        first: { number: 1 },
        second: { number: 2 },
        refused: { by: 'ann', reason: 'never', comment: 'ask me' },
        heard,
      },
    })
    expect(await (await open({ store })).verify('r')).toMatchObject({ ok: true, executed: 1, unchecked: [] })
  })
})

describe('who hears of decisions', () => {
  it('is no program without the grant', async () => {
    const runtime = await open({})
    const outcome = await runtime.run('return typeof approvals', { grants: ['mail.send'] })
    expect(outcome).toMatchObject({ status: 'completed', value: 'undefined' })
  })

  it('hears of its own calls, and of none where it is kept in no store', async () => {
    const store = createMemoryRunStore()
    const runtime = await open({ store, approveEffects: ['write'] })
    const grants = ['mail.send', 'approvals.list']
    const options = { grants, run: 'other' }
    const asked = await runtime.run('await mail.send(1); return approvals.list({})', options)
    const request = asked.status === 'suspended' ? asked.pending[0]?.approval?.digest : undefined
    if (request === undefined) throw new Error('Nobody was asked.')
    const decisions = [{ request, by: 'ann', decision: 'approve', value: 2, comment: 'two' } as const]
    const ended = await runtime.resume('other', { grants, decisions })
    expect(ended).toMatchObject({
      status: 'completed',
      value: [{ call: 1, capability: 'mail.send', args: 2, edited: true, by: 'ann', comment: 'two' }],
    })
    for (const run of [{ run: 'third' }, {}])
      expect(
        await runtime.run('return approvals.list({})', { grants: ['approvals.list'], ...run }),
      ).toMatchObject({ value: [] })
  })

  it('reads only what was written since it asked last', async () => {
    const store = createMemoryRunStore()
    const read: number[] = []
    const counting = {
      ...bound(store),
      entries: async (run: string, from: number, most: number) => {
        const entries = await store.entries(run, from, most)
        read.push(entries.length)
        return entries
      },
    }
    const runtime = await open({ store: counting })
    const source = 'for (let i = 0; i < 200; i += 1) await approvals.list({}); return 1'
    expect(await runtime.run(source, { grants: ['approvals.list'], run: 'r', guard: false })).toMatchObject({
      value: 1,
    })
    const { length } = await store.entries('r', 0, 10_000)
    expect(read.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(length)
  })
})
