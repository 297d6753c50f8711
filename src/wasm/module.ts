/**
 * A core WebAssembly module as data.
 *
 * Everything is read into records except function bodies and constant expressions, which stay bytes: they are
 * decoded one at a time by whoever needs them. A module is never changed in place; `edit.ts` derives new ones.
 */
import type { ValueType } from './value-type.ts'

export interface FunctionType {
  readonly params: readonly ValueType[]
  readonly results: readonly ValueType[]
}

/** Minimum and maximum of a memory (pages of 64 KiB) or a table (entries). */
export interface Limits {
  readonly min: number
  readonly max?: number
  /** Whether it is indexed by i64. */
  readonly index64: boolean
  readonly shared: boolean
}

export interface TableType {
  readonly element: ValueType
  readonly limits: Limits
}

export interface GlobalType {
  readonly value: ValueType
  readonly mutable: boolean
}

/** What an import must be. A function or tag is named by the index of its type. */
export type ImportType =
  | { readonly kind: 'function'; readonly type: number }
  | { readonly kind: 'table'; readonly table: TableType }
  | { readonly kind: 'memory'; readonly limits: Limits }
  | { readonly kind: 'global'; readonly global: GlobalType }
  | { readonly kind: 'tag'; readonly type: number }

export type ExternKind = ImportType['kind']

export interface Import {
  readonly module: string
  readonly name: string
  readonly desc: ImportType
}

export interface Export {
  readonly name: string
  readonly kind: ExternKind
  readonly index: number
}

/** The bytes of a constant expression, its final `end` included. */
export type ConstantExpression = Uint8Array

export interface Table {
  readonly type: TableType
  readonly init?: ConstantExpression
}

export interface Global {
  readonly type: GlobalType
  readonly init: ConstantExpression
}

/** Where a segment goes when the module is instantiated, if anywhere. `index` is a table or a memory. */
export type SegmentMode =
  | { readonly kind: 'passive' }
  | { readonly kind: 'declared' }
  | { readonly kind: 'active'; readonly index: number; readonly offset: ConstantExpression }

/** Entries for a table, as function indices or as expressions. */
export interface ElementSegment {
  readonly mode: SegmentMode
  readonly type: ValueType
  readonly items:
    | { readonly kind: 'functions'; readonly indices: readonly number[] }
    | { readonly kind: 'expressions'; readonly expressions: readonly ConstantExpression[] }
}

export interface DataSegment {
  readonly mode: SegmentMode
  readonly bytes: Uint8Array
}

/** A function's locals and code, as bytes. */
export interface FunctionBody {
  readonly bytes: Uint8Array
  /** Offset of `bytes` in the file that was read (0 for code that was added), for messages. */
  readonly offset: number
}

export interface CustomSection {
  readonly name: string
  readonly bytes: Uint8Array
  /** Id of the known section that it follows, 0 at the start. */
  readonly after: number
}

export interface Module {
  readonly types: readonly FunctionType[]
  readonly imports: readonly Import[]
  /** Type index of each function that the module defines; `bodies` runs parallel to it. */
  readonly functions: readonly number[]
  readonly bodies: readonly FunctionBody[]
  readonly tables: readonly Table[]
  readonly memories: readonly Limits[]
  /** Type index of each exception tag that the module defines. */
  readonly tags: readonly number[]
  readonly globals: readonly Global[]
  readonly exports: readonly Export[]
  readonly start?: number
  readonly elements: readonly ElementSegment[]
  /** Whether a data count section stands before the code. */
  readonly dataCount: boolean
  readonly data: readonly DataSegment[]
  readonly customs: readonly CustomSection[]
}

/** The index spaces of a module: imports first, then what it defines. */
export interface IndexSpaces {
  /** Type index per function. */
  readonly functions: readonly number[]
  readonly tables: readonly TableType[]
  readonly memories: readonly Limits[]
  readonly globals: readonly GlobalType[]
  /** Type index per tag. */
  readonly tags: readonly number[]
  readonly importedFunctions: number
  readonly importedGlobals: number
}

/** Joins imports and definitions into index spaces. */
export function indexSpaces(module: Module): IndexSpaces {
  const functions: number[] = []
  const tables: TableType[] = []
  const memories: Limits[] = []
  const globals: GlobalType[] = []
  const tags: number[] = []
  for (const { desc } of module.imports) {
    if (desc.kind === 'function') functions.push(desc.type)
    else if (desc.kind === 'table') tables.push(desc.table)
    else if (desc.kind === 'memory') memories.push(desc.limits)
    else if (desc.kind === 'global') globals.push(desc.global)
    else tags.push(desc.type)
  }
  const importedFunctions = functions.length
  const importedGlobals = globals.length
  for (const type of module.functions) functions.push(type)
  for (const table of module.tables) tables.push(table.type)
  for (const limits of module.memories) memories.push(limits)
  for (const global of module.globals) globals.push(global.type)
  for (const type of module.tags) tags.push(type)
  return { functions, tables, memories, globals, tags, importedFunctions, importedGlobals }
}
