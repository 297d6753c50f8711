/** JavaScript by componentize-qjs, from npm: a component that has QuickJS and the program in it, already evaluated. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Compiler } from './compiler.ts'
import { GUEST_FOLDER } from './sample.ts'

/** Its native part is an optional dependency: there is none for every platform. */
function load(): typeof import('componentize-qjs') | undefined {
  try {
    return createRequire(import.meta.url)('componentize-qjs') as typeof import('componentize-qjs')
  } catch {
    return undefined
  }
}

const { version } = createRequire(import.meta.url)('componentize-qjs/package.json') as { version: string }

export const JAVASCRIPT_COMPILER: Compiler = {
  from: 'npm install --save-dev componentize-qjs',
  version: () => Promise.resolve(load() === undefined ? undefined : `componentize-qjs ${version}`),

  async compile({ folder, sources: [source = ''], wit = '', world = '', wasi }) {
    const { component } =
      (await load()?.componentize({
        witPath: join(GUEST_FOLDER, 'wit', wit),
        world,
        jsSource: readFileSync(join(folder, source), 'utf8'),
        optSize: true,
        sync: true,
        // What would need WASI traps instead of being imported.
        stubWasi: wasi !== true,
      })) ?? {}
    if (component === undefined) throw new Error('componentize-qjs has no native part for this platform.')
    return component
  },
}
