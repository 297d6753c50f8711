/** Features that show outside of code. */
import { ByteReader } from './byte-reader.ts'
import { readConstantExpression } from './constant-expression.ts'
import { indexSpaces, type Module } from './module.ts'
import { EXTERNREF, isReference, isTypedReference, V128, type ValueType } from './value-type.ts'

const EXTENDED_CONSTANTS: ReadonlySet<number> = new Set([0x6a, 0x6b, 0x6c, 0x7c, 0x7d, 0x7e])

/** Names of the features that types, limits and constant expressions of the module use. */
export function moduleFeatures(module: Module): ReadonlySet<string> {
  const features = new Set<string>()
  const spaces = indexSpaces(module)
  const seeType = (type: ValueType): void => {
    if (type === V128) features.add('simd')
    if (isTypedReference(type)) features.add('typed-function-references')
    else if (isReference(type)) features.add('reference-types')
  }
  for (const { params, results } of module.types) {
    params.forEach(seeType)
    results.forEach(seeType)
    if (results.length > 1) features.add('multivalue')
  }
  for (const limits of spaces.memories) {
    if (limits.index64) features.add('memory64')
    if (limits.shared) features.add('threads')
  }
  if (spaces.memories.length > 1) features.add('multi-memory')
  if (spaces.tables.length > 1) features.add('reference-types')
  for (const table of spaces.tables) {
    if (table.limits.index64) features.add('memory64')
    if (table.element === EXTERNREF) features.add('reference-types')
  }
  if (spaces.tags.length > 0) features.add('exceptions')
  const opcode = (op: number): void => {
    if (EXTENDED_CONSTANTS.has(op)) features.add('extended-const')
  }
  for (const global of module.globals) readConstantExpression(new ByteReader(global.init), ANY, { opcode })
  return features
}

const ANY = { types: 2 ** 32, functions: 2 ** 32, globals: 2 ** 32 }
