/** A run of which thousands of nodes cannot be undone: it ends all the same, and says which they are. */
import { expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { capability, openRuntime, type Plan, type PlanNode } from '../../src/entry/node.ts'

const ITEMS = 3_000
const long = (letter: string): string => letter.repeat(64)

/** So long a path that all of them together are no record that a journal takes. */
function nested(ids: readonly string[], inmost: Plan['nodes']): Plan['nodes'] {
  const [id, ...inner] = ids
  if (id === undefined) return inmost
  const plan: Plan = {
    format: 'plan/1',
    name: 'p',
    version: '1',
    grants: ['a.do', 'a.undo'],
    nodes: nested(inner, inmost),
  }
  return { [id]: { kind: 'plan', plan } as PlanNode }
}

it('compensation that fails for thousands is told by one small event, and whole by outcome and view', async () => {
  const tool = (name: string, invoke: (input: unknown) => Promise<unknown>) =>
    capability({ name, description: 'Does something', effect: 'write', idempotent: true, invoke })
  const runtime = await openRuntime({
    store: createMemoryRunStore(),
    capabilities: [
      tool('a.do', async (input) => input),
      tool('a.undo', async () => {
        throw new Error('It cannot be undone.')
      }),
    ],
  })
  const undo = { kind: 'call', capability: 'a.undo', input: { $from: 'output' } } as const
  const plan: Plan = {
    format: 'plan/1',
    name: 'many',
    version: '1',
    grants: ['a.do', 'a.undo'],
    guard: { identicalErrors: 100_000 },
    nodes: {
      ...nested([long('a'), long('b'), long('c'), long('d')], {
        [long('e')]: {
          kind: 'each',
          over: { $value: Array.from({ length: ITEMS }, (_, i) => i) },
          most: ITEMS,
          do: {
            nodes: {
              [long('f')]: { kind: 'call', capability: 'a.do', input: { $from: 'item' }, compensate: undo },
            },
          },
        },
      }),
      last: { kind: 'program', source: 'throw new Error("no")', after: [long('a')] },
    },
  }
  const run = await runtime.propose(plan, { by: 'ann', run: 'r' })
  await run.approve({ by: 'ann', digest: (await run.view()).request })
  await run.start({ by: 'ann' })
  const outcome = await run.outcome()
  expect(outcome.status).toBe('compensated')
  const left = outcome.status === 'compensated' ? outcome.left : []
  expect(left).toHaveLength(ITEMS)
  expect(left.join().length).toBeGreaterThan(1024 * 1024)
  expect((await run.view()).left).toEqual(left)
  for await (const { event } of run.events({ types: ['compensated'] }))
    expect(event).toMatchObject({ left: left.slice(0, 100), more: ITEMS - 100 })
  expect(await runtime.verify('r')).toMatchObject({ ok: true, difference: undefined })
  await runtime.close()
}, 120_000)
