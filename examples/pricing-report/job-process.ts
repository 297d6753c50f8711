/**
 * The process that runs the program, and that is killed: it begins the run or goes on with it, and tells its parent
 * what happens. All that must outlive it is in the store.
 */
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { type Outcome, openRuntime } from '../../src/entry/node.ts'
import { openJob } from './job.ts'
import type { JobEvent, JobOrder } from './job-events.ts'
import { readProgram } from './program-source.ts'
import { CHECKPOINT_EVERY, GRANTS, LIMITS, RUN } from './terms.ts'
import { watchedStore } from './watched-store.ts'

const tell = (event: JobEvent): void => void process.send?.(event)
// Nobody is left who would hear the rest.
process.once('disconnect', () => process.exit(1))

const { act, origin, outDirectory, storeDirectory } = JSON.parse(process.argv[2] ?? '') as JobOrder
const job = await openJob({
  origin,
  outDirectory,
  database: act === 'begin' ? 'now' : 'when asked',
  say: (topic, text) => tell({ type: 'say', topic, text }),
})
const store = await openDirectoryRunStore(storeDirectory)
const runtime = await openRuntime({
  capabilities: job.capabilities,
  store: watchedStore(store, (bytes) => tell({ type: 'checkpoint', bytes })),
  // Not by time or size as well, so that the story is the same on every machine.
  checkpoints: { every: { calls: CHECKPOINT_EVERY, ms: 60_000, bytes: 2 ** 26 } },
  callLog: {
    intent: (record) => tell({ type: 'intent', record }),
    result: (record) => tell({ type: 'result', record }),
  },
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
  const outcome =
    act === 'begin' ? await begin() : await runtime.resume(RUN, { grants: GRANTS, stateDigest: true })
  const artifacts = job.artifacts().map(({ path, name, bytes }) => ({ path: path ?? name, bytes }))
  tell({ type: 'outcome', outcome, artifacts })
} finally {
  await runtime.close()
  await store.close()
  await job[Symbol.asyncDispose]()
  process.removeAllListeners('disconnect')
  process.disconnect?.()
}

/** Only a start needs the program and its modules: the run that is kept has them. */
async function begin(): Promise<Outcome> {
  const { source, fileName, modules } = await readProgram()
  return runtime.run(source, {
    run: RUN,
    input: { priceService: origin },
    grants: GRANTS,
    limits: LIMITS,
    fileName,
    modules,
    stateDigest: true,
  })
}
