/** Programs for processes of tests, bundled so that each starts within a blink. */
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const ROOT = join(import.meta.dirname, '../..')
const ENTRY = join(ROOT, 'src/entry/node.ts')
/** Inside the repository: what is not bundled is found from there. */
const BUNDLES = join(import.meta.dirname, '../../.cache/children')
/** Drivers of databases. */
const NOT_BUNDLED = ['better-sqlite3', 'pg', 'binaryen', 'esbuild']
const bundles = new Map<string, Promise<string>>()

/**
 * Bundles a program of this folder, once for all tests of this process.
 * @param name without its ending
 * @returns the path of what Node can start
 */
export function bundledChild(name: string): Promise<string> {
  const bundle = bundles.get(name) ?? makeBundle(name)
  bundles.set(name, bundle)
  return bundle
}

/** As in the process of the tests (`vitest.config.ts`): what is prepared in one process is so in all of a run. */
const PREPARED_ONCE: Plugin = {
  name: 'prepared-once',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/worker-port\.node\.ts$/ }, ({ importer }) =>
      importer === ENTRY ? { path: join(ROOT, 'test/prepared-once.ts') } : undefined,
    ),
}

async function makeBundle(name: string): Promise<string> {
  mkdirSync(BUNDLES, { recursive: true })
  const bundle = join(BUNDLES, `${name}.mjs`)
  // Another process may be starting the one that is there.
  const fresh = `${bundle}.${process.pid}`
  await build({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    outfile: fresh,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: NOT_BUNDLED,
    // The bundle lies elsewhere than the sources, beside which the engine and the Workers are.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(ENTRY).href) },
    plugins: [PREPARED_ONCE],
    logLevel: 'error',
  })
  renameSync(fresh, bundle)
  return bundle
}
