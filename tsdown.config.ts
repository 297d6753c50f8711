/**
 * The package as it is published: one ES module and one declaration file per source file.
 *
 * `dist/` mirrors the tree (`dist/src`, `dist/host-bindings`, `dist/engines`), so a URL that is relative
 * to a module (an engine, a Worker) means the same file in the sources and in the package, and a stack
 * trace names the file that a contributor knows.
 */
import { existsSync } from 'node:fs'
import { defineConfig, type UserConfig } from 'tsdown'
import { PACKAGE_ENTRIES, WORKER_ENTRIES } from './scripts/package-entries.ts'

const config: UserConfig = defineConfig({
  entry: [...PACKAGE_ENTRIES, ...WORKER_ENTRIES],
  root: '.',
  unbundle: true,
  format: 'esm',
  // Says how imports are resolved, not where the code runs: each entry keeps what it imports.
  platform: 'neutral',
  target: 'es2023',
  fixedExtension: false,
  dts: true,
  clean: true,
  failOnWarn: true,
  report: false,
  logLevel: 'warn',
  deps: { neverBundle: [/^node:/] },
  copy: existsSync('engines') ? [{ from: 'engines', to: 'dist' }] : [],
})

export default config
