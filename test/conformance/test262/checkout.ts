/** A checkout of test262 in a folder of the host. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { ModuleSource } from '../lent-modules.ts'
import { readFrontMatter } from './front-matter.ts'
import type { Test262Test, TestFiles } from './scenario.ts'

export class Test262Checkout implements TestFiles {
  readonly #folder: string
  readonly #harness = new Map<string, string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Paths of all tests, sorted. Files that only tests import are none. */
  testPaths(): readonly string[] {
    return readdirSync(join(this.#folder, 'test'), { recursive: true, encoding: 'utf8' })
      .map((path) => `test/${path.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.js') && !path.includes('_FIXTURE'))
      .sort()
  }

  readTest(path: string): Test262Test {
    const source = readFileSync(join(this.#folder, path), 'utf8')
    try {
      return { path, source, matter: readFrontMatter(source) }
    } catch (error) {
      throw new Error(`${path}: ${(error as Error).message}`)
    }
  }

  /** Text of a file in `harness/`. */
  readonly readHarness = (name: string): string => {
    let text = this.#harness.get(name)
    if (text === undefined) {
      text = readFileSync(join(this.#folder, 'harness', name), 'utf8')
      this.#harness.set(name, text)
    }
    return text
  }

  readonly modules: ModuleSource = {
    normalize: (base, specifier) => posix.join(posix.dirname(base), specifier),
    load: (name) => {
      try {
        return readFileSync(join(this.#folder, name), 'utf8')
      } catch {
        return undefined
      }
    },
  }
}
