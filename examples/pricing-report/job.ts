/**
 * The gates through which the nodes of the plan may touch their world.
 *
 * Everything here is decided by the host: which database, which origin, where reports go. How often something is tried
 * again, and what happens when it fails, is decided by the plan.
 */
import { mkdir } from 'node:fs/promises'
import { createClockCapabilities } from '../../host-bindings/clock/clock-capabilities.ts'
import { createNodeFetchCapabilities } from '../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
import { createSqlCapabilities } from '../../host-bindings/sql/sql-capabilities.ts'
import type { SqlDatabase } from '../../host-bindings/sql/sql-database.ts'
import type { RuntimeOptions } from '../../src/entry/node.ts'
import { openCatalogue, readProducts } from './catalogue.ts'
import { createReportCapabilities, Reports } from './reports.ts'
import { stallOnce } from './stalling-database.ts'

export interface Job extends AsyncDisposable {
  readonly capabilities: NonNullable<RuntimeOptions['capabilities']>
}

export interface JobOptions {
  /** The price service: the one origin that may be fetched from. */
  readonly origin: string
  /** Directory of what is published; created where it is missing. */
  readonly reportsDirectory: string
  /** `now`, and it does not answer once; or only `when asked`, for a process that may not need it any more. */
  readonly database: 'now' | 'when asked'
  readonly say: (topic: string, text: string) => void
}

/** Far above what the queries take, also on a busy machine, and above what opening the database does. */
const QUERY_TIMEOUT_MS = 15_000
const IMPATIENT_MS = 1_000
const STALL_MS = 10_000

/** Dispose it when the run is over. */
export async function openJob({ origin, reportsDirectory, database, say }: JobOptions): Promise<Job> {
  await mkdir(reportsDirectory, { recursive: true })
  let opening: ReturnType<typeof openCatalogue> | undefined
  const openOnce = (): ReturnType<typeof openCatalogue> => {
    opening ??= (async () => {
      say('database', 'starting a Postgres inside this process (PGlite)')
      const products = await readProducts()
      const catalogue = await openCatalogue(products)
      say('database', `${products.length} products loaded`)
      return catalogue
    })()
    return opening
  }
  const whenAsked: SqlDatabase = { transaction: async (work) => (await openOnce()).transaction(work) }
  const isOpen = database === 'now'
  const address = new URL(origin).host
  return {
    capabilities: [
      ...createSqlCapabilities({
        database: isOpen ? stallOnce(await openOnce(), ['transaction'], STALL_MS) : whenAsked,
        timeoutMs: isOpen ? IMPATIENT_MS : QUERY_TIMEOUT_MS,
        about: 'Table products(sku, name, category, unit, base_price, currency, supplier, stock, updated).',
      }),
      ...createNodeFetchCapabilities({ allow: [`http://${address}`], allowPrivate: [address] }),
      ...createClockCapabilities({ maxSleepMs: 5_000 }),
      ...createReportCapabilities(new Reports(reportsDirectory)),
    ],
    async [Symbol.asyncDispose]() {
      await (await opening)?.close()
    },
  }
}
