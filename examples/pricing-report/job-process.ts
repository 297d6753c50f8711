/**
 * The process that drives the run, and that is killed: it starts the run or goes on with it, and tells its parent what
 * happens. All that must outlive it is in the store.
 */
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { openRuntime, type PlanRun } from '../../src/entry/node.ts'
import { openJob } from './job.ts'
import type { JobEvent, JobOrder } from './job-events.ts'
import { PERSON, RUN } from './terms.ts'
import { watchedStore } from './watched-store.ts'

const tell = (event: JobEvent): void => void process.send?.(event)
// Nobody is left who would hear the rest.
process.once('disconnect', () => process.exit(1))

const { act, point, from, origin, reportsDirectory, storeDirectory } = JSON.parse(
  process.argv[2] ?? '',
) as JobOrder
const job = await openJob({
  origin,
  reportsDirectory,
  database: act === 'start' ? 'now' : 'when asked',
  say: (topic, text) => tell({ type: 'say', topic, text }),
})
const store = await openDirectoryRunStore(storeDirectory)
const runtime = await openRuntime({
  capabilities: job.capabilities,
  store: watchedStore(store, (bytes) => tell({ type: 'checkpoint', bytes })),
  // After every answer, and not by time or size as well, so that the story is the same on every machine.
  checkpoints: { every: { calls: 1, ms: 600_000, bytes: 2 ** 26 } },
  callLog: { intent: ({ capability }) => tell({ type: 'call', capability }), result: () => {} },
  telemetry: {
    event: (name, { answersRepeated, callsUnanswered }) => {
      if (name !== 'run.resumed') return
      tell({
        type: 'resumed',
        answersRepeated: Number(answersRepeated),
        callsUnanswered: Number(callsUnanswered),
      })
    },
  },
})
tell({ type: 'ready', engine: runtime.engine })
try {
  const run = await runtime.planRun(RUN)
  if (act === 'start') await run.start({ by: PERSON })
  else await run.resume({ by: PERSON, ...(point !== undefined && { point: point as never }) })
  await tellEvents(run)
  const outcome = await run.outcome()
  tell({ type: 'outcome', outcome })
} finally {
  await runtime.close()
  await store.close()
  await job[Symbol.asyncDispose]()
  process.removeAllListeners('disconnect')
  process.disconnect?.()
}

async function tellEvents(run: PlanRun): Promise<void> {
  for await (const news of run.events({ from, until: 'rest' })) tell({ type: 'event', news })
}
