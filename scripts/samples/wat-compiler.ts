/** WebAssembly text, by the wasm-tools that jco-transpile brings. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Compiler } from './compiler.ts'
import { COMPONENT_TOOLS } from './make-component.ts'

export const WAT_COMPILER: Compiler = {
  from: 'npm install --save-dev @bytecodealliance/jco-transpile',
  version: () => Promise.resolve(COMPONENT_TOOLS),
  async compile({ folder, sources: [source = ''] }) {
    const { parse } = await import('@bytecodealliance/jco-transpile/wasm-tools')
    return parse(readFileSync(join(folder, source), 'utf8'))
  },
}
