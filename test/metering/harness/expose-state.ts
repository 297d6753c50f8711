/**
 * Adds exports to a module so that a test can see all of its state: `state.memory`, `state.global.N`,
 * `state.table.N`. It is applied before metering, so both sides of a comparison have it.
 */
import { readModule } from '../oracle/module-reader.ts'
import { leb } from '../oracle/numeric-stubs.ts'
import { appendEntries, nameBytes, rewriteSections } from '../oracle/section-writer.ts'

/** Prefix of the added exports. */
export const STATE_PREFIX = 'state.'

/** Exports memories, mutable numeric globals and function tables. */
export function exposeState(wasm: Uint8Array): Uint8Array<ArrayBuffer> {
  const module = readModule(wasm)
  const entries: number[][] = []
  const add = (name: string, kind: number, index: number): void => {
    entries.push([...nameBytes(STATE_PREFIX + name), kind, ...leb(index)])
  }
  module.tables.forEach(({ type }, i) => {
    if (type === 'funcref') add(`table.${i}`, 1, i)
  })
  if (module.memories.length > 0) add('memory', 2, 0)
  module.globals.forEach(({ type, mutable }, i) => {
    const readable = type === 'i32' || type === 'i64' || type === 'f32' || type === 'f64'
    if (mutable && readable) add(`global.${i}`, 3, i)
  })
  return rewriteSections(module, new Map([[7, appendEntries(module, entries.length, entries.flat())]]))
}
