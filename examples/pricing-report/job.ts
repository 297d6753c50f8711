/**
 * The gates through which the program may touch its world.
 *
 * Everything here is decided by the host: which database, which origin, how often a query may be tried again, where
 * artifacts go. The program sees four functions.
 */
import { mkdir } from 'node:fs/promises'
import { createArtifactCapabilities } from '../../host-bindings/artifacts/artifact-capabilities.ts'
import { type Artifact, createArtifactStore } from '../../host-bindings/artifacts/artifact-store.ts'
import { createClockCapabilities } from '../../host-bindings/clock/clock-capabilities.ts'
import { createNodeFetchCapabilities } from '../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
import { openDirectoryFileTree } from '../../host-bindings/files/node/directory-file-tree.node.ts'
import { createSqlCapabilities } from '../../host-bindings/sql/sql-capabilities.ts'
import type { SqlDatabase } from '../../host-bindings/sql/sql-database.ts'
import type { RuntimeOptions } from '../../src/entry/node.ts'
import { openCatalogue, readProducts } from './catalogue.ts'
import { stallOnce } from './stalling-database.ts'

export interface Job extends AsyncDisposable {
  readonly capabilities: NonNullable<RuntimeOptions['capabilities']>
  /** What this process was given for the report so far. */
  readonly artifacts: () => readonly Artifact[]
}

export interface JobOptions {
  /** The price service: the one origin that may be fetched from. */
  readonly origin: string
  /** Directory for artifacts; created where it is missing. */
  readonly outDirectory: string
  /** `now`, and it does not answer once; or only `when asked`, for a process that may not need it any more. */
  readonly database: 'now' | 'when asked'
  readonly say: (topic: string, text: string) => void
}

/** Far above what the queries take, also on a busy machine. */
const QUERY_TIMEOUT_MS = 1_000
/** Where the first query has to wait for the database. */
const OPENING_TIMEOUT_MS = 15_000
const STALL_MS = 10_000

/** Dispose it when the run is over. */
export async function openJob({ origin, outDirectory, database, say }: JobOptions): Promise<Job> {
  await mkdir(outDirectory, { recursive: true })
  const tree = await openDirectoryFileTree({ root: outDirectory, writable: true })
  const store = createArtifactStore({ tree })
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
        timeoutMs: isOpen ? QUERY_TIMEOUT_MS : OPENING_TIMEOUT_MS,
        about: 'Table products(sku, name, category, unit, base_price, currency, supplier, stock, updated).',
        retry: {
          attempts: 2,
          delayMs: () => {
            say('', '.. no answer from the database; tried once more, as the policy of sql.query allows')
            return 50
          },
        },
      }),
      ...createNodeFetchCapabilities({ allow: [`http://${address}`], allowPrivate: [address] }),
      ...createClockCapabilities({ maxSleepMs: 5_000 }),
      ...createArtifactCapabilities({ store, maxBytes: 1024 * 1024 }),
    ],
    artifacts: () => store.list(),
    async [Symbol.asyncDispose]() {
      await (await opening)?.close()
      await tree[Symbol.asyncDispose]()
    },
  }
}
