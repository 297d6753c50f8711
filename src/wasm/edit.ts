/**
 * Small, pure edits of a module: each takes one and returns another. Indices are those of the module's index
 * spaces (imports first). What does not fit throws `invalid_argument`.
 */
import { CaissonError } from '../base/errors.ts'
import { ByteWriter } from './byte-writer.ts'
import { i32Constant, i32Value } from './constant-expression.ts'
import { mapFunctions } from './map-functions.ts'
import { mapGlobals } from './map-globals.ts'
import {
  type CustomSection,
  type Export,
  type ExternKind,
  type FunctionType,
  type Global,
  type GlobalType,
  type Import,
  indexSpaces,
  type Limits,
  type Module,
  type TableType,
} from './module.ts'
import { I32, type ValueType, writeValueType } from './value-type.ts'

/** A changed module with the index of what was added to it. */
export interface Added {
  readonly module: Module
  readonly index: number
}

function refuse(message: string): CaissonError {
  return new CaissonError('invalid_argument', message)
}

function sameTypes(a: readonly ValueType[], b: readonly ValueType[]): boolean {
  return a.length === b.length && a.every((type, index) => type === b[index])
}

/** Adds a function type, or finds an equal one. */
export function addType(module: Module, type: FunctionType): Added {
  const found = module.types.findIndex(
    (other) => sameTypes(other.params, type.params) && sameTypes(other.results, type.results),
  )
  if (found >= 0) return { module, index: found }
  return { module: { ...module, types: [...module.types, type] }, index: module.types.length }
}

/** Adds an export. */
export function addExport(module: Module, item: Export): Module {
  if (module.exports.some((other) => other.name === item.name)) {
    throw refuse(`The module exports ${JSON.stringify(item.name)} already`)
  }
  const spaces = indexSpaces(module)
  const sizes: Record<ExternKind, number> = {
    function: spaces.functions.length,
    table: spaces.tables.length,
    memory: spaces.memories.length,
    global: spaces.globals.length,
    tag: spaces.tags.length,
  }
  if (item.index >= sizes[item.kind]) throw refuse(`The module has no ${item.kind} ${item.index}`)
  return { ...module, exports: [...module.exports, item] }
}

/** Renames exports: keys are the names now, values the names then. */
export function renameExports(module: Module, names: ReadonlyMap<string, string>): Module {
  const known = new Set(module.exports.map((item) => item.name))
  for (const name of names.keys()) {
    if (!known.has(name)) throw refuse(`The module does not export ${JSON.stringify(name)}`)
  }
  const exports = module.exports.map((item) => ({ ...item, name: names.get(item.name) ?? item.name }))
  if (new Set(exports.map((item) => item.name)).size !== exports.length) {
    throw refuse('Two exports would have the same name')
  }
  return { ...module, exports }
}

/** Keeps only the exports that `keep` accepts. */
export function filterExports(module: Module, keep: (item: Export) => boolean): Module {
  return { ...module, exports: module.exports.filter(keep) }
}

/** Renames imports: `rename` returns the import as it shall be called. It must not change what it is. */
export function renameImports(
  module: Module,
  rename: (item: Import) => { readonly module: string; readonly name: string },
): Module {
  const imports = module.imports.map((item) => {
    const { module: from, name } = rename(item)
    return { module: from, name, desc: item.desc }
  })
  return { ...module, imports }
}

/**
 * Adds an imported function behind the others. The functions that the module defines move up by one, and so
 * does every reference to them.
 */
export function addFunctionImport(module: Module, from: string, name: string, type: FunctionType): Added {
  const { importedFunctions } = indexSpaces(module)
  const typed = addType(module, type)
  const moved = mapFunctions(typed.module, (index) => (index < importedFunctions ? index : index + 1))
  const added: Import = { module: from, name, desc: { kind: 'function', type: typed.index } }
  return { module: { ...moved, imports: [...moved.imports, added] }, index: importedFunctions }
}

/**
 * Adds imported globals behind the others. The globals that the module defines move up, and so does every
 * reference to them.
 *
 * @returns `index` of the first one; the others follow it.
 */
export function addGlobalImports(
  module: Module,
  from: string,
  added: readonly { readonly name: string; readonly type: GlobalType }[],
): Added {
  const { importedGlobals } = indexSpaces(module)
  const moved = mapGlobals(module, (index) => (index < importedGlobals ? index : index + added.length))
  const imports = added.map(
    ({ name, type }): Import => ({ module: from, name, desc: { kind: 'global', global: type } }),
  )
  return { module: { ...moved, imports: [...moved.imports, ...imports] }, index: importedGlobals }
}

/** A function to add. `code` is instructions with the final `end`. */
export interface NewFunction {
  readonly type: FunctionType
  /** Locals behind the parameters, one entry each. */
  readonly locals?: readonly ValueType[]
  readonly code: Uint8Array | readonly number[]
}

/** Adds a function behind all others: no index changes. */
export function addFunction(module: Module, added: NewFunction): Added {
  const typed = addType(module, added.type)
  const locals = added.locals ?? []
  const writer = new ByteWriter(added.code.length + 16)
  writer.u32(locals.length)
  for (const local of locals) {
    writer.u32(1)
    writeValueType(writer, local)
  }
  writer.raw(added.code)
  return {
    module: {
      ...typed.module,
      functions: [...module.functions, typed.index],
      bodies: [...module.bodies, { bytes: writer.copy(), offset: 0 }],
    },
    index: indexSpaces(module).functions.length,
  }
}

/** Adds a global behind all others: no index changes. */
export function addGlobal(module: Module, global: Global): Added {
  return {
    module: { ...module, globals: [...module.globals, global] },
    index: indexSpaces(module).globals.length,
  }
}

/** The initial value of an i32 global that the module defines by a constant; undefined for any other. */
export function globalI32(module: Module, index: number): number | undefined {
  const global = module.globals[index - indexSpaces(module).importedGlobals]
  return global === undefined || global.type.value !== I32 ? undefined : i32Value(global.init)
}

/** Gives an i32 global that the module defines by a constant another initial value. */
export function setGlobalI32(module: Module, index: number, value: number): Module {
  if (globalI32(module, index) === undefined)
    throw refuse(`Global ${index} is not a constant i32 of this module`)
  const defined = index - indexSpaces(module).importedGlobals
  const globals = module.globals.map((global, at) =>
    at === defined ? { ...global, init: i32Constant(value) } : global,
  )
  return { ...module, globals }
}

/** Changes the limits of every memory and table, imported and defined. */
export function mapLimits(
  module: Module,
  memory: (limits: Limits) => Limits,
  table: (type: TableType) => TableType,
): Module {
  return {
    ...module,
    imports: module.imports.map((item): Import => {
      const { desc } = item
      if (desc.kind === 'memory') return { ...item, desc: { kind: 'memory', limits: memory(desc.limits) } }
      if (desc.kind === 'table') return { ...item, desc: { kind: 'table', table: table(desc.table) } }
      return item
    }),
    memories: module.memories.map(memory),
    tables: module.tables.map((item) => ({ ...item, type: table(item.type) })),
  }
}

/** Gives memory `index`, imported or defined, other limits (pages of 64 KiB). */
export function setMemoryLimits(module: Module, index: number, min: number, max?: number): Module {
  if (index >= indexSpaces(module).memories.length) throw refuse(`The module has no memory ${index}`)
  let at = -1
  const change = (limits: Limits): Limits => {
    at++
    if (at !== index) return limits
    const { max: _, ...rest } = limits
    return max === undefined ? { ...rest, min } : { ...rest, min, max }
  }
  return mapLimits(module, change, (type) => type)
}

/** Makes table `index` longer by `entries`: its minimum and, if it has one, its maximum. */
export function growTable(module: Module, index: number, entries: number): Module {
  if (index >= indexSpaces(module).tables.length) throw refuse(`The module has no table ${index}`)
  let at = -1
  const change = (type: TableType): TableType => {
    at++
    if (at !== index) return type
    const { min, max, ...rest } = type.limits
    const limits = { ...rest, min: min + entries }
    return { ...type, limits: max === undefined ? limits : { ...limits, max: max + entries } }
  }
  return mapLimits(module, (limits) => limits, change)
}

/** Overwrites bytes of memory 0 where active data segments with constant offsets initialise them. */
export function patchData(module: Module, address: number, bytes: Uint8Array): Module {
  let patched = false
  const data = module.data.map((segment) => {
    if (segment.mode.kind !== 'active' || segment.mode.index !== 0) return segment
    const offset = i32Value(segment.mode.offset)
    if (offset === undefined) return segment
    const start = address - (offset >>> 0)
    if (start < 0 || start + bytes.length > segment.bytes.length) return segment
    patched = true
    const copy = segment.bytes.slice()
    copy.set(bytes, start)
    return { ...segment, bytes: copy }
  })
  if (!patched) throw refuse(`No data segment initialises ${bytes.length} bytes at ${address}`)
  return { ...module, data }
}

/** Overwrites bytes of data segment `segment`, counted from its start: also of passive ones. */
export function patchSegment(module: Module, segment: number, offset: number, bytes: Uint8Array): Module {
  const target = module.data[segment]
  if (target === undefined || offset + bytes.length > target.bytes.length) {
    throw refuse(`Data segment ${segment} has no ${bytes.length} bytes at ${offset}`)
  }
  const copy = target.bytes.slice()
  copy.set(bytes, offset)
  return {
    ...module,
    data: module.data.map((item, at) => (at === segment ? { ...item, bytes: copy } : item)),
  }
}

/** Keeps only the custom sections that `keep` accepts. */
export function filterCustomSections(module: Module, keep: (section: CustomSection) => boolean): Module {
  return { ...module, customs: module.customs.filter(keep) }
}

/**
 * Turns the start section, if there is one, into an export called `name`: the host calls it once after
 * instantiation, under limits, instead of the engine calling it during instantiation, under none.
 */
export function exportStart(module: Module, name: string): Module {
  const { start, ...rest } = module
  return start === undefined ? module : addExport(rest, { name, kind: 'function', index: start })
}
