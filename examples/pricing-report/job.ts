/**
 * The world of the job, and the gates through which the program may touch it.
 *
 * Everything here is decided by the host: which database, which origin, how often a query may be tried again, where
 * artifacts go. The program sees four functions.
 */
import { mkdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createArtifactCapabilities } from '../../host-bindings/artifacts/artifact-capabilities.ts'
import { type Artifact, createArtifactStore } from '../../host-bindings/artifacts/artifact-store.ts'
import { createClockCapabilities } from '../../host-bindings/clock/clock-capabilities.ts'
import { createNodeFetchCapabilities } from '../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
import { openDirectoryFileTree } from '../../host-bindings/files/node/directory-file-tree.node.ts'
import { createSqlCapabilities } from '../../host-bindings/sql/sql-capabilities.ts'
import type { GrantRule, Limits, RuntimeOptions } from '../../src/entry/node.ts'
import { openCatalogue, readProducts } from './catalogue.ts'
import type { Narrator } from './narrator.ts'
import { startPriceService } from './price-service.ts'
import { stallOnce } from './stalling-database.ts'

export interface Job extends AsyncDisposable {
  readonly program: string
  readonly input: { readonly priceService: string }
  readonly capabilities: NonNullable<RuntimeOptions['capabilities']>
  readonly grants: readonly (GrantRule & { readonly capability: string; readonly calls: number })[]
  readonly limits: Pick<Limits, 'fuel' | 'memoryBytes' | 'wallMs' | 'calls'>
  /** What the program handed over so far. */
  readonly artifacts: () => readonly Artifact[]
}

export interface JobOptions {
  readonly narrator: Narrator
  /** Directory for artifacts; created where it is missing. */
  readonly outDirectory: string
}

/** Far above what the queries take, also on a busy machine. */
const QUERY_TIMEOUT_MS = 1_000
const STALL_MS = 10_000

/** Starts database and price service. Dispose it when the run is over. */
export async function openJob({ narrator, outDirectory }: JobOptions): Promise<Job> {
  const program = await readFile(fileURLToPath(new URL('./program.js', import.meta.url)), 'utf8')
  const products = await readProducts()
  await mkdir(outDirectory, { recursive: true })
  const tree = await openDirectoryFileTree({ root: outDirectory, writable: true })
  const store = createArtifactStore({ tree })
  narrator.say('database', 'starting a Postgres inside this process (PGlite)')
  const catalogue = await openCatalogue(products)
  narrator.say('database', `${products.length} products loaded`)
  // Last, because it alone would keep the process alive if something else failed.
  const service = await startPriceService(products)
  narrator.say('price service', `${service.origin}, asks for a pause after six requests`)
  const address = new URL(service.origin).host

  return {
    program,
    input: { priceService: service.origin },
    capabilities: [
      ...createSqlCapabilities({
        database: stallOnce(catalogue, ['transaction'], STALL_MS),
        timeoutMs: QUERY_TIMEOUT_MS,
        about: 'Table products(sku, name, category, unit, base_price, currency, supplier, stock, updated).',
        retry: {
          attempts: 2,
          delayMs: () => {
            narrator.say(
              '',
              '.. no answer from the database; tried once more, as the policy of sql.query allows',
            )
            return 50
          },
        },
      }),
      ...createNodeFetchCapabilities({ allow: [`http://${address}`], allowPrivate: [address] }),
      ...createClockCapabilities({ maxSleepMs: 5_000 }),
      ...createArtifactCapabilities({ store, maxBytes: 1024 * 1024 }),
      // Each knows its own input type, which a list cannot say.
    ],
    grants: [
      { capability: 'sql.query', calls: 10 },
      { capability: 'net.fetch', calls: 30, rate: { calls: 20, perMs: 1_000 } },
      { capability: 'clock.sleep', calls: 5 },
      { capability: 'artifacts.write', calls: 1 },
    ],
    limits: { fuel: 5_000_000_000, memoryBytes: 32 * 1024 * 1024, wallMs: 20_000, calls: 50 },
    artifacts: () => store.list(),
    async [Symbol.asyncDispose]() {
      await service.close()
      await catalogue.close()
      await tree[Symbol.asyncDispose]()
    },
  }
}
