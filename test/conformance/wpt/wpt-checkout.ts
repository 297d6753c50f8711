/** A checkout of web-platform-tests, or the part of it that holds the areas, in a folder of the host. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { readTestMeta } from './test-meta.ts'
import type { WptScenario } from './wpt-guest.ts'

/** Where the suite's own server would be. */
const ORIGIN = 'http://web-platform.test'

export class WptCheckout {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Paths of the tests under a folder that run anywhere, sorted. */
  testPaths(under: string): readonly string[] {
    return readdirSync(join(this.#folder, under), { recursive: true, encoding: 'utf8' })
      .map((path) => `${under}/${path.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.any.js'))
      .sort()
  }

  /** @throws Error when there is no such file */
  read(path: string): string {
    return readFileSync(join(this.#folder, path), 'utf8')
  }

  /** The test with each of its query strings. */
  scenarios(path: string): readonly WptScenario[] {
    const source = this.read(path)
    const { scripts, variants } = readTestMeta(source)
    const files = ['/resources/testharness.js', ...scripts].map((script) => this.#locate(path, script))
    return variants.map((variant) => ({
      scripts: [
        ...files.map((file) => ({ fileName: file, source: this.read(file) })),
        { fileName: path, source },
      ],
      href: `${ORIGIN}/${path.replace(/\.js$/, '.html')}${variant}`,
      readFile: (file) => this.#readIfThere(this.#locate(path, file)),
    }))
  }

  /** A path from the root of the suite, as a test names it. */
  #locate(test: string, path: string): string {
    return path.startsWith('/') ? posix.normalize(path.slice(1)) : posix.join(posix.dirname(test), path)
  }

  #readIfThere(path: string): string | undefined {
    try {
      return path.startsWith('..') ? undefined : this.read(path)
    } catch {
      return undefined
    }
  }
}
