/**
 * Which tests run when.
 *
 * `npm test` runs everything but `*.long.test.ts`, in five projects: `unit`, the tests that stand beside the code;
 * `whole`, those of the whole; `browser`, whose tests are Node programs that drive a real Chromium; `sqlite` and
 * `postgres`, those that need such a database (`*.sqlite.test.ts`, `*.postgres.test.ts`, wherever they stand). All but
 * those in a browser share their modules, as loading them anew takes longer than most of them. `npm run test:long` (mode
 * `long`) runs the rest. What a project needs is brought when one of its tests runs; where it cannot be had, they fail:
 * nothing is skipped.
 *
 * What `npm test` writes goes into a folder in memory where there is one; the long tests are on a disk.
 */
import { join } from 'node:path'
import { defineConfig, type Plugin, type ViteUserConfigFnObject } from 'vitest/config'
import { LongestFirst } from './scripts/longest-first.ts'
import { memoryFolder } from './scripts/memory-folder.ts'

const LONG = '**/*.long.test.ts'
const DATABASES = ['**/*.sqlite.*', '**/*.postgres.*']
const NOT_OURS = ['**/node_modules/**', 'dist/**', 'bench/thirdparty/**', '.cache/**', 'out/**']

/**
 * What sets up a project is not kept between runs: it runs in the process of vitest itself, which (4.1) cannot tell the
 * places of errors in modules that were kept, and fails where one is thrown.
 */
const KEEP_MODULES_OF_TESTS: Plugin = {
  name: 'keep-modules-of-tests',
  configureVitest: ({ experimental_defineCacheKeyGenerator: define }) =>
    define(({ environment }) => (environment.name === '__vitest__' ? false : undefined)),
}

/** Modules are prepared once for all tests of a run: what is opened is what `test/prepared-once.ts` says. */
const PREPARED_ONCE: Plugin = {
  name: 'prepared-once',
  enforce: 'pre',
  resolveId: (source, importer) =>
    source.endsWith('/system/worker-port.node.ts') && importer?.endsWith('/src/entry/node.ts')
      ? join(import.meta.dirname, 'test/prepared-once.ts')
      : undefined,
}

const config: ViteUserConfigFnObject = defineConfig(({ mode }) => {
  const chosen = (...folders: string[]): { include: string[]; exclude: string[] } => ({
    include: folders.map((folder) => `${folder}/**/*.${mode === 'long' ? 'long.' : ''}test.ts`),
    exclude: [...NOT_OURS, ...DATABASES, ...(mode === 'long' ? [] : [LONG])],
  })
  const whole = chosen('test')
  const needing = (database: string): { include: string[]; exclude: string[] } => ({
    include: [`{host-bindings,test}/**/*.${database}.${mode === 'long' ? 'long.' : ''}test.ts`],
    exclude: NOT_OURS,
  })
  const inMemory = mode === 'long' ? undefined : memoryFolder()
  return {
    plugins: [KEEP_MODULES_OF_TESTS, PREPARED_ONCE],
    test: {
      env: inMemory === undefined ? {} : { TMPDIR: inMemory },
      // The machine that every figure and time limit is written for has two cores.
      maxWorkers: 2,
      sequence: { sequencer: LongestFirst },
      testTimeout: 30_000,
      hookTimeout: 60_000,
      restoreMocks: true,
      globalSetup: ['scripts/vitest-prepared.ts'],
      // A test that expects nothing fails: it would pass whatever the code did.
      expect: { requireAssertions: true },
      unstubGlobals: true,
      // All projects load the library: what one has transformed, the others take, and the next run. By what is in a file.
      experimental: {
        fsModuleCache: true,
        fsModuleCachePath: join(import.meta.dirname, '.cache/vitest-modules'),
      },
      projects: [
        {
          extends: true,
          test: {
            name: 'unit',
            ...chosen('src', 'host-bindings', 'guest', 'bench', 'examples', 'scripts'),
            isolate: false,
          },
        },
        {
          extends: true,
          test: {
            name: 'whole',
            include: whole.include,
            exclude: [...whole.exclude, 'test/browser/**'],
            isolate: false,
          },
        },
        {
          extends: true,
          test: {
            name: 'browser',
            ...chosen('test/browser'),
            globalSetup: ['scripts/vitest-chromium.ts'],
            testTimeout: 120_000,
          },
        },
        {
          extends: true,
          test: {
            name: 'sqlite',
            ...needing('sqlite'),
            globalSetup: ['scripts/vitest-sqlite.ts'],
            isolate: false,
          },
        },
        {
          extends: true,
          test: {
            name: 'postgres',
            ...needing('postgres'),
            globalSetup: ['scripts/vitest-postgres.ts'],
            isolate: false,
          },
        },
      ],
    },
  }
})

export default config
