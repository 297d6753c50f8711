/** Runs a chain whose syncs are counted from outside: `syncs-process.ts SUBJECT RUNS`. */
import { directoryChain, sqliteChain } from '../subjects/caisson-plans.ts'
import { langgraphSqliteChain } from '../subjects/langgraph.ts'
import { type Chain, SHORT } from './chain.ts'
import type { TracedSubject } from './syncs.ts'

const CHAINS: Readonly<Record<TracedSubject, () => Promise<Chain>>> = {
  'langgraph-sqlite': () => langgraphSqliteChain(SHORT),
  'caisson-directory': directoryChain,
  'caisson-sqlite': sqliteChain,
}

const [subject = '', runs = ''] = process.argv.slice(2)
const { prepare, run, forget, dispose } = await CHAINS[subject as TracedSubject]()
for (let i = 0; i < Number(runs); i += 1) {
  await prepare?.()
  await run()
  await forget?.()
}
await dispose?.()
