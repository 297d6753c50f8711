/**
 * The modules that people import or run. `package.json` exports exactly these (a test compares them),
 * and the build starts from them.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** Source paths from the root of the repository. */
export const PACKAGE_ENTRIES: readonly string[] = [
  'src/entry/node.ts',
  'src/entry/browser.ts',
  'src/entry/edge.ts',
  'src/cli/main.ts',
].filter((path) => existsSync(join(ROOT, path)))
