/**
 * The page of the story. It does again what a process on a server did, from a checkpoint on: with the recorded answers, at
 * their times and in their order. And it runs the same plan itself, on IndexedDB, with the tools of the server.
 */
import { openIndexedDbRunStore } from '../../host-bindings/store/indexed-db-run-store.ts'
import {
  type Capability,
  capability,
  engineFromUrl,
  type OpenRequest,
  type Outcome,
  openRuntime,
  type Plan,
  type PlanOutcome,
  type Runtime,
} from '../../src/entry/browser.ts'
import { type PackedRun, unpackRun } from './packed-run.ts'
import { type ToolDescription, toolsOfServer } from './page-tools.ts'
import { PERSON, PROGRAM_GRANTS, RUN } from './terms.ts'

/** What the story asks of the page. */
export interface PageStory {
  repeat(): Promise<Outcome>
  /** Until the plan waits for the person. */
  begin(input: unknown): Promise<{ readonly outcome: PlanOutcome; readonly requests: readonly OpenRequest[] }>
  /** In another tab, maybe: the person agrees, and the plan goes on. */
  agree(): Promise<PlanOutcome>
}

declare global {
  var story: PageStory
}

const notHere = (name: string, continues?: string): Capability =>
  capability({
    name,
    description: 'Is not here',
    effect: 'read',
    ...(continues !== undefined && { continues }),
    invoke: () => {
      throw new Error('this page reaches nothing')
    },
  })

/** With what reads the bodies of `net.fetch`, which is granted with it. */
const NOTHING = [...PROGRAM_GRANTS.map((name) => notHere(name)), notHere('net.readBody', 'net.fetch')]

const json = async <T>(path: string): Promise<T> => (await (await fetch(path)).json()) as T

async function withRuntime<T>(
  capabilities: readonly Capability[],
  database: string,
  work: (runtime: Runtime, store: Awaited<ReturnType<typeof openIndexedDbRunStore>>) => Promise<T>,
): Promise<T> {
  const store = await openIndexedDbRunStore({ name: database })
  const engines = engineFromUrl(new URL('/engine.wasm', location.href))
  const runtime = await openRuntime({ capabilities, store, engines })
  try {
    return await work(runtime, store)
  } finally {
    await runtime.close()
    await store.close()
  }
}

const withTools = async <T>(work: (runtime: Runtime) => Promise<T>): Promise<T> =>
  withRuntime(toolsOfServer(await json<readonly ToolDescription[]>('/tools.json')), 'plans', work)

globalThis.story = {
  repeat: () =>
    withRuntime(NOTHING, 'repeated', async (runtime, store) => {
      const packed = await json<PackedRun>('/run.json')
      await unpackRun(store, packed)
      return runtime.repeat(packed.run, { grants: PROGRAM_GRANTS, stateDigest: true })
    }),
  begin: (input) =>
    withTools(async (runtime) => {
      const run = await runtime.propose(await json<Plan>('/plan.json'), { by: PERSON, run: RUN, input })
      await run.approve({ by: PERSON, digest: (await run.view()).request })
      await run.start({ by: PERSON })
      return { outcome: await run.outcome(), requests: await run.requests() }
    }),
  agree: () =>
    withTools(async (runtime) => {
      const run = await runtime.planRun(RUN)
      for (const { digest: request } of await run.requests())
        await run.decide({ request, by: PERSON, decision: 'approve' })
      await run.resume({ by: PERSON })
      return run.outcome()
    }),
}
