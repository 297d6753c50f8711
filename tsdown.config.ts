/**
 * The package as it is published: one ES module and one declaration file per source file.
 *
 * `dist/` mirrors the tree (`dist/src`, `dist/host-bindings`, `dist/engines`), so a URL that is relative
 * to a module (an engine, a Worker) means the same file in the sources and in the package, and a stack
 * trace names the file that a contributor knows.
 */
import { existsSync } from 'node:fs'
import { defineConfig, type Rolldown, type UserConfig } from 'tsdown'
import { PACKAGE_ENTRIES, WORKER_ENTRIES } from './scripts/package-entries.ts'

const DISPOSAL = /\bSymbol\.(dispose|asyncDispose)\b|\b(Async)?Disposable\b/

/** Declarations that speak of disposal name the library that declares it: who uses the package need not. */
const disposalLibrary: Rolldown.Plugin = {
  name: 'disposal-library',
  renderChunk: (code, { fileName }) =>
    fileName.endsWith('.d.ts') && DISPOSAL.test(code)
      ? `/// <reference lib="esnext.disposable" />\n${code}`
      : undefined,
}

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
  plugins: [disposalLibrary],
  clean: true,
  failOnWarn: true,
  report: false,
  logLevel: 'warn',
  deps: { neverBundle: [/^node:/] },
  copy: [
    { from: 'src/entry/engine-module.d.ts', to: 'dist/src/entry' },
    { from: 'guest/globals.d.ts', to: 'dist/guest' },
    ...(existsSync('engines') ? [{ from: 'engines', to: 'dist' }] : []),
  ],
})

export default config
