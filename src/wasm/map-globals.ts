/** Renumbers the globals of a module wherever they are named: code, constant expressions, exports. */
import { mapGlobalReferences } from './constant-expression.ts'
import { mapBodies } from './map-bodies.ts'
import { mapConstants } from './map-constants.ts'
import type { Module } from './module.ts'
import { OP } from './opcode-table.ts'

/**
 * The module with every reference to global `i` turned into one to `map(i)`. The globals themselves stay where
 * they are. Names of globals in a name section are not moved: they are for people, and not for engines.
 */
export function mapGlobals(module: Module, map: (globalIndex: number) => number): Module {
  return {
    ...mapConstants(module, (expression) => mapGlobalReferences(expression, map)),
    bodies: mapBodies(module, (opcode) => opcode === OP.globalGet || opcode === OP.globalSet, map),
    exports: module.exports.map((item) =>
      item.kind === 'global' ? { ...item, index: map(item.index) } : item,
    ),
  }
}
