/**
 * AssemblyScript, from npm, in this process. `abort` is left out: where it would be called, the guest traps, and so it
 * imports nothing but what it says itself.
 */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Compiler } from './compiler.ts'

const { version } = createRequire(import.meta.url)('assemblyscript/package.json') as { version: string }

export const ASSEMBLYSCRIPT_COMPILER: Compiler = {
  from: 'npm install --save-dev assemblyscript',
  version: () => Promise.resolve(`assemblyscript ${version}`),

  async compile(sample) {
    // Loaded where something is built, and not with everything that reads a sample: it takes seconds.
    const { main } = await import('assemblyscript/asc')
    let output: Uint8Array | undefined
    const flags = ['--runtime', 'minimal', '--optimizeLevel', '2', '--shrinkLevel', '1', '--use', 'abort=']
    const messages: string[] = []
    const { error } = await main([...sample.sources, '--outFile', 'out.wasm', ...flags], {
      readFile(name) {
        try {
          return readFileSync(join(sample.folder, name), 'utf8')
        } catch {
          // The compiler asks for files that may be there.
          return null
        }
      },
      writeFile(_name, contents) {
        if (typeof contents !== 'string') output = contents
      },
      listFiles: () => [],
      stderr: {
        write(text) {
          messages.push(String(text))
          return true
        },
      },
    })
    if (error !== null || output === undefined)
      throw new Error(`assemblyscript failed:\n${messages.join('')}`)
    return output
  },
}
