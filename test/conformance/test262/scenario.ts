/** One way in which a test is run. A test without flags has two: as it is, and in strict mode. */
import type { ModuleSource } from '../lent-modules.ts'
import type { Script } from '../script-evaluator.ts'
import type { FrontMatter } from './front-matter.ts'

export interface Test262Test {
  /** From the root of the checkout, with `/`. */
  readonly path: string
  readonly source: string
  readonly matter: FrontMatter
}

export type Mode = 'sloppy' | 'strict' | 'module' | 'raw'

/** The modes in which a test has to be run, by its flags. */
export function modesOf({ flags }: FrontMatter): readonly Mode[] {
  if (flags.has('module')) return ['module']
  if (flags.has('raw')) return ['raw']
  if (flags.has('onlyStrict')) return ['strict']
  if (flags.has('noStrict')) return ['sloppy']
  return ['sloppy', 'strict']
}

/** Everything that a guest is given to run a test in one mode. */
export interface Scenario {
  readonly test: Test262Test
  readonly mode: Mode
  readonly harness: readonly Script[]
  readonly script: Script
  /** What it may import: the files of the checkout. */
  readonly modules: ModuleSource
}

/** Files of a checkout. */
export interface TestFiles {
  /** Text of a file in `harness/`. */
  readonly readHarness: (name: string) => string
  readonly modules: ModuleSource
}

/** Harness files that every test but a raw one gets. */
const ALWAYS = ['assert.js', 'sta.js']
/** What stands for `print` in tests that end later. */
const ASYNC = 'doneprintHandle.js'

export function scenariosOf(test: Test262Test, files: TestFiles): readonly Scenario[] {
  const { flags, includes } = test.matter
  return modesOf(test.matter).map((mode) => {
    const names = mode === 'raw' ? [] : [...ALWAYS, ...(flags.has('async') ? [ASYNC] : []), ...includes]
    return {
      test,
      mode,
      harness: [...new Set(names)].map((name) => ({
        fileName: `harness/${name}`,
        source: files.readHarness(name),
      })),
      script: {
        fileName: test.path,
        source: mode === 'strict' ? `"use strict";\n${test.source}` : test.source,
      },
      modules: files.modules,
    }
  })
}
