/** Rewrites every constant expression of a module: initial values, offsets of segments, entries of tables. */
import type { ConstantExpression, ElementSegment, Module, SegmentMode } from './module.ts'

/** The module with each constant expression replaced by what `map` makes of it. */
export function mapConstants(
  module: Module,
  map: (expression: ConstantExpression) => ConstantExpression,
): Module {
  return {
    ...module,
    tables: module.tables.map((table) =>
      table.init === undefined ? table : { ...table, init: map(table.init) },
    ),
    globals: module.globals.map((global) => ({ ...global, init: map(global.init) })),
    elements: module.elements.map((segment) => mapElement(segment, map)),
    data: module.data.map((segment) => ({ ...segment, mode: mapMode(segment.mode, map) })),
  }
}

function mapElement(
  segment: ElementSegment,
  map: (expression: ConstantExpression) => ConstantExpression,
): ElementSegment {
  const { items } = segment
  const mode = mapMode(segment.mode, map)
  return items.kind === 'functions'
    ? { ...segment, mode }
    : { ...segment, mode, items: { kind: 'expressions', expressions: items.expressions.map(map) } }
}

function mapMode(
  mode: SegmentMode,
  map: (expression: ConstantExpression) => ConstantExpression,
): SegmentMode {
  return mode.kind === 'active' ? { ...mode, offset: map(mode.offset) } : mode
}
