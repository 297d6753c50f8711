/** WebAssembly text, by the wasm-tools that jco-transpile brings. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from '@bytecodealliance/jco-transpile/wasm-tools'
import type { Compiler } from './compiler.ts'
import { COMPONENT_TOOLS } from './make-component.ts'

export const WAT_COMPILER: Compiler = {
  from: 'npm install --save-dev @bytecodealliance/jco-transpile',
  version: () => Promise.resolve(COMPONENT_TOOLS),
  compile: ({ folder, sources: [source = ''] }) => parse(readFileSync(join(folder, source), 'utf8')),
}
