/** DBOS on a local Postgres: a workflow whose steps are recorded in the database, one after the other. */
import { type Chain, chainTrial, SHORT, step, stepNames } from '../graph/chain.ts'
import { graphSubject } from '../graph/graph-subject.ts'
import { createDatabase, logSyncs } from '../graph/postgres.ts'
import { serverSyncsTrial } from '../graph/syncs.ts'
import { importPackage, peerVersion } from './peer-package.ts'
import type { Subject } from './subject.ts'

type Workflow = (from: number) => Promise<number>

interface Package {
  readonly DBOS: {
    setConfig(config: object): void
    registerWorkflow(run: Workflow, options: { readonly name: string }): Workflow
    runStep(run: () => Promise<number>, options: { readonly name: string }): Promise<number>
    launch(): Promise<void>
    shutdown(): Promise<void>
  }
}

const NAME = '@dbos-inc/dbos-sdk'

/** What was registered once stays, however often it is launched. */
let registered: Workflow | undefined

async function chain(length: number): Promise<Chain> {
  const { DBOS } = await importPackage<Package>(NAME)
  const names = stepNames(length)
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: await createDatabase(), logLevel: 'error' })
  registered ??= DBOS.registerWorkflow(
    async (from) => {
      let n = from
      for (const name of names) n = await DBOS.runStep(() => step(n), { name })
      return n
    },
    { name: 'chain' },
  )
  const workflow = registered
  await DBOS.launch()
  return { run: () => workflow(0), dispose: () => DBOS.shutdown() }
}

async function syncs(runs: number): Promise<number> {
  const { run, dispose } = await chain(SHORT)
  const before = await logSyncs()
  for (let i = 0; i < runs; i += 1) await run()
  await dispose?.()
  return (await logSyncs()) - before
}

export function openDbos(): Subject {
  return graphSubject(
    { id: 'dbos', version: peerVersion(NAME), note: 'DBOS on a local Postgres, a record per step' },
    {
      'durable-200': async () => chainTrial(SHORT, await chain(SHORT)),
      syncs: () => serverSyncsTrial(syncs),
    },
  )
}
