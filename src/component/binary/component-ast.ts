/**
 * A component as its binary says it: definitions in their order, with the indices that they use. Nothing is resolved
 * here; `link/` gives the indices a meaning, once for each instance.
 *
 * Source: the Binary.md of the component model. What is not in these types (values, start functions, core types, streams,
 * futures, threads) is refused by the reader with its name.
 */

/** What an index is an index of. */
export type Sort =
  | 'core func'
  | 'core table'
  | 'core memory'
  | 'core global'
  | 'core module'
  | 'core instance'
  | 'func'
  | 'type'
  | 'component'
  | 'instance'

export interface SortIndex {
  readonly sort: Sort
  readonly index: number
}

export interface NamedItem extends SortIndex {
  readonly name: string
}

export type PrimitiveName =
  | 'bool'
  | 's8'
  | 'u8'
  | 's16'
  | 'u16'
  | 's32'
  | 'u32'
  | 's64'
  | 'u64'
  | 'f32'
  | 'f64'
  | 'char'
  | 'string'

/** A primitive by its name, anything else by an index into the types of the component. */
export type TypeRef = PrimitiveName | number

export interface NamedType {
  readonly name: string
  readonly type: TypeRef
}

export type ValueTypeDefinition =
  | { readonly kind: 'primitive'; readonly name: PrimitiveName }
  | { readonly kind: 'record'; readonly fields: readonly NamedType[] }
  | {
      readonly kind: 'variant'
      readonly cases: readonly { readonly name: string; readonly type: TypeRef | undefined }[]
    }
  | { readonly kind: 'list'; readonly element: TypeRef }
  | { readonly kind: 'tuple'; readonly types: readonly TypeRef[] }
  | { readonly kind: 'flags'; readonly names: readonly string[] }
  | { readonly kind: 'enum'; readonly names: readonly string[] }
  | { readonly kind: 'option'; readonly type: TypeRef }
  | { readonly kind: 'result'; readonly ok: TypeRef | undefined; readonly err: TypeRef | undefined }
  | { readonly kind: 'own' | 'borrow'; readonly resource: number }

export interface FunctionTypeDefinition {
  readonly kind: 'func'
  readonly params: readonly NamedType[]
  readonly result: TypeRef | undefined
}

export type TypeDefinition =
  | ValueTypeDefinition
  | FunctionTypeDefinition
  /** `destructor` is a core function. */
  | { readonly kind: 'resource'; readonly destructor: number | undefined }
  | { readonly kind: 'instance' | 'component'; readonly declarations: readonly Declaration[] }

/** What an import or export has to be. */
export type ExternDescription =
  | { readonly sort: 'func' | 'instance' | 'component'; readonly type: number }
  | { readonly sort: 'type'; readonly equals: number }
  | { readonly sort: 'type'; readonly equals: 'resource' }

export type AliasTarget =
  | { readonly kind: 'export'; readonly sort: Sort; readonly instance: number; readonly name: string }
  | { readonly kind: 'core export'; readonly sort: Sort; readonly instance: number; readonly name: string }
  | { readonly kind: 'outer'; readonly sort: Sort; readonly count: number; readonly index: number }

export type Declaration =
  | { readonly kind: 'type'; readonly type: TypeDefinition }
  | { readonly kind: 'alias'; readonly target: AliasTarget }
  | { readonly kind: 'import' | 'export'; readonly name: string; readonly is: ExternDescription }

export type StringEncoding = 'utf8' | 'utf16' | 'latin1+utf16'

export interface CanonOptions {
  readonly encoding: StringEncoding
  readonly memory: number | undefined
  readonly realloc: number | undefined
  readonly postReturn: number | undefined
}

export type CanonDefinition =
  | {
      readonly kind: 'lift'
      readonly coreFunction: number
      readonly type: number
      readonly options: CanonOptions
    }
  | { readonly kind: 'lower'; readonly function: number; readonly options: CanonOptions }
  | { readonly kind: 'resource.new' | 'resource.drop' | 'resource.rep'; readonly resource: number }

export type Definition =
  /** `module` counts all core modules of the outermost component, in the order of their bytes. */
  | { readonly kind: 'core module'; readonly module: number }
  | { readonly kind: 'core instance'; readonly module: number; readonly args: readonly NamedItem[] }
  | { readonly kind: 'core exports'; readonly exports: readonly NamedItem[] }
  | { readonly kind: 'component'; readonly component: ComponentAst }
  | { readonly kind: 'instance'; readonly component: number; readonly args: readonly NamedItem[] }
  | { readonly kind: 'exports'; readonly exports: readonly NamedItem[] }
  | { readonly kind: 'alias'; readonly target: AliasTarget }
  | { readonly kind: 'type'; readonly type: TypeDefinition }
  | { readonly kind: 'canon'; readonly canon: CanonDefinition }
  | { readonly kind: 'import'; readonly name: string; readonly is: ExternDescription }
  | {
      readonly kind: 'export'
      readonly name: string
      readonly item: SortIndex
      readonly as: ExternDescription | undefined
    }

export interface ComponentAst {
  readonly definitions: readonly Definition[]
}

/** What was read: the outermost component, and the bytes of all core modules in it. */
export interface ParsedComponent {
  readonly root: ComponentAst
  /** Views of the input. */
  readonly modules: readonly Uint8Array[]
}
