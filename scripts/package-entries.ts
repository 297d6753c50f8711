/**
 * The modules from which the package is built.
 */

/** What people import or run: `package.json` exports exactly these, which a test compares. */
export const PACKAGE_ENTRIES: readonly string[] = [
  'src/entry/node.ts',
  'src/entry/browser.ts',
  'src/entry/edge.ts',
  'src/entry/bindings.ts',
  'src/entry/bindings.node.ts',
  'src/cli/main.ts',
]

/** Scripts of Workers: nothing imports them, their URL is handed to `new Worker`. */
export const WORKER_ENTRIES: readonly string[] = [
  'src/entry/worker.ts',
  'src/entry/worker.node.ts',
  'src/entry/prepare-worker.node.ts',
]
