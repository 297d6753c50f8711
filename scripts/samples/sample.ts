/** A sample guest: a folder in `guest/samples` with its sources and `sample.json`, which says what is made of them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** As `sample.json` has it. */
interface SampleRecipe {
  /** What it is for, in one line. */
  readonly about: string
  readonly language: 'c' | 'assemblyscript' | 'javascript' | 'rust' | 'wat'
  /** `command` and `reactor` are WASI preview-1 modules; `module` is any other core module. */
  readonly kind: 'component' | 'command' | 'reactor' | 'module'
  /** Relative to the folder of the sample; the first one is where the compiler begins. */
  readonly sources: readonly string[]
  /** Of a component: a file in `guest/wit`, and the world in it. */
  readonly wit?: string
  readonly world?: string
  /** Of a component whose strings are not UTF-8. */
  readonly stringEncoding?: 'utf16'
  /** Of a component: whether it imports WASI 0.2. Default: it does not. */
  readonly wasi?: boolean
}

export interface Sample extends SampleRecipe {
  readonly name: string
  readonly folder: string
}

export const GUEST_FOLDER: string = join(import.meta.dirname, '../../guest')
export const SAMPLES_FOLDER: string = join(GUEST_FOLDER, 'samples')

/** Every sample, by name. */
export function listSamples(): readonly Sample[] {
  return readdirSync(SAMPLES_FOLDER)
    .filter((name) => existsSync(join(SAMPLES_FOLDER, name, 'sample.json')))
    .sort()
    .map((name) => {
      const folder = join(SAMPLES_FOLDER, name)
      const recipe = JSON.parse(readFileSync(join(folder, 'sample.json'), 'utf8')) as SampleRecipe
      return { ...recipe, name, folder }
    })
}

/** @throws Error where there is none of that name */
export function findSample(name: string): Sample {
  const sample = listSamples().find((candidate) => candidate.name === name)
  if (sample === undefined) throw new Error(`There is no sample "${name}" in guest/samples.`)
  return sample
}

/** QuickJS makes a megabyte of every program: what is that large is built where it is needed, and not committed. */
export function isCommitted(sample: Sample): boolean {
  return sample.language !== 'javascript'
}
