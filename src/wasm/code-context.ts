/** What the code of a module may refer to: the sizes and types of its index spaces, ready for decoding bodies. */
import { type FunctionType, indexSpaces, type Limits, type Module, type TableType } from './module.ts'

/** Bounds for every index in a function body. */
export interface CodeContext {
  readonly types: readonly FunctionType[]
  /** Type index per function, imports first. */
  readonly functions: readonly number[]
  readonly importedFunctions: number
  readonly tables: readonly TableType[]
  readonly memories: readonly Limits[]
  readonly globals: number
  readonly tags: readonly number[]
  readonly elements: number
  readonly data: number
}

/** The context that the bodies of `module` are decoded in. */
export function codeContext(module: Module): CodeContext {
  const spaces = indexSpaces(module)
  return {
    types: module.types,
    functions: spaces.functions,
    importedFunctions: spaces.importedFunctions,
    tables: spaces.tables,
    memories: spaces.memories,
    globals: spaces.globals.length,
    tags: spaces.tags,
    elements: module.elements.length,
    data: module.data.length,
  }
}
