/** Programs for processes of tests, bundled so that each starts within a blink. */
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/** Inside the repository: what is not bundled is found from there. */
const BUNDLES = join(import.meta.dirname, '../../.cache/children')
/** Drivers of databases. */
const NOT_BUNDLED = ['better-sqlite3', 'pg']
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
    logLevel: 'error',
  })
  renameSync(fresh, bundle)
  return bundle
}
