/** Renumbers the functions of a module wherever they are named: code, tables, exports, start, names. */
import { mapFunctionReferences } from './constant-expression.ts'
import { mapBodies } from './map-bodies.ts'
import { mapConstants } from './map-constants.ts'
import type { Module } from './module.ts'
import { mapNameSection } from './name-section.ts'
import { OP } from './opcode-table.ts'

/** Gives the new index of a function. */
export type FunctionMap = (functionIndex: number) => number

/**
 * The module with every reference to function `i` turned into one to `map(i)`. The functions themselves stay
 * where they are: the caller adds or moves them so that the references are right again.
 */
export function mapFunctions(module: Module, map: FunctionMap): Module {
  const mapped = mapConstants(module, (expression) => mapFunctionReferences(expression, map))
  return {
    ...mapped,
    bodies: mapBodies(module, namesFunction, map),
    exports: module.exports.map((item) =>
      item.kind === 'function' ? { ...item, index: map(item.index) } : item,
    ),
    ...(module.start === undefined ? {} : { start: map(module.start) }),
    elements: mapped.elements.map((segment) =>
      segment.items.kind === 'functions'
        ? { ...segment, items: { kind: 'functions', indices: segment.items.indices.map(map) } }
        : segment,
    ),
    customs: module.customs.map((custom) => (custom.name === 'name' ? mapNameSection(custom, map) : custom)),
  }
}

/** Whether the first immediate of `opcode` is a function. */
function namesFunction(opcode: number): boolean {
  return opcode === OP.call || opcode === OP.refFunc || opcode === OP.returnCall
}
