/** From type definitions to types: see `abi/wit-type.ts`. */
import type { LiveResource } from '../abi/resources.ts'
import type { FunctionType } from '../abi/wit-type.ts'
import {
  flagsType,
  functionType,
  handleType,
  listType,
  type Parameter,
  primitiveType,
  recordType,
  variantType,
  type WitType,
} from '../abi/wit-type.ts'
import type {
  Declaration,
  ExternDescription,
  NamedType,
  TypeDefinition,
  TypeRef,
  ValueTypeDefinition,
} from '../binary/component-ast.ts'
import { invalidComponent, unsupportedInComponent } from '../binary/component-error.ts'
import { type LinkedItem, type LinkedType, LinkScope } from './link-scope.ts'

/** Who stands behind what a type of instances declares. */
export interface DeclaredBy {
  func(name: string, type: FunctionType): LinkedItem
  resource(name: string): LiveResource
}

/** @param defined makes a resource of a definition; left out where types are only declared */
export function linkType(
  scope: LinkScope,
  definition: TypeDefinition,
  defined?: (destructor: number | undefined) => LiveResource,
): LinkedType {
  scope.work.take(partsOf(definition))
  switch (definition.kind) {
    case 'func': {
      const result = definition.result === undefined ? undefined : valueType(scope, definition.result)
      return { kind: 'func', type: functionType(named(scope, definition.params), result) }
    }
    case 'instance':
    case 'component':
      return { kind: definition.kind, declarations: definition.declarations, scope }
    case 'resource':
      if (defined === undefined) throw invalidComponent('A resource is defined where it can only be declared')
      return { kind: 'resource', resource: defined(definition.destructor) }
    default:
      return { kind: 'value', type: linkValueType(scope, definition) }
  }
}

/** What a type is made of, beside itself: all of it is made again with each instance. */
function partsOf(definition: TypeDefinition): number {
  switch (definition.kind) {
    case 'func':
      return definition.params.length
    case 'record':
      return definition.fields.length
    case 'variant':
      return definition.cases.length
    case 'tuple':
      return definition.types.length
    case 'enum':
    case 'flags':
      return definition.names.length
    default:
      return 0
  }
}

function linkValueType(scope: LinkScope, definition: ValueTypeDefinition): WitType {
  const optional = (type: TypeRef | undefined): WitType | undefined =>
    type === undefined ? undefined : valueType(scope, type)
  switch (definition.kind) {
    case 'primitive':
      return primitiveType(definition.name)
    case 'list':
      return listType(valueType(scope, definition.element))
    case 'record':
      return recordType('record', named(scope, definition.fields))
    case 'tuple':
      return recordType(
        'tuple',
        definition.types.map((type, index) => ({ name: String(index), type: valueType(scope, type) })),
      )
    case 'variant':
      return variantType(
        'variant',
        definition.cases.map(({ name, type }) => ({ name, type: optional(type) })),
      )
    case 'enum':
      return variantType(
        'enum',
        definition.names.map((name) => ({ name, type: undefined })),
      )
    case 'option':
      return variantType('option', [
        { name: 'none', type: undefined },
        { name: 'some', type: valueType(scope, definition.type) },
      ])
    case 'result':
      return variantType('result', [
        { name: 'ok', type: optional(definition.ok) },
        { name: 'err', type: optional(definition.err) },
      ])
    case 'flags':
      return flagsType(definition.names)
    case 'own':
    case 'borrow':
      return handleType(definition.kind, resourceAt(scope, definition.resource))
  }
}

function named(scope: LinkScope, types: readonly NamedType[]): Parameter[] {
  return types.map(({ name, type }) => ({ name, type: valueType(scope, type) }))
}

function valueType(scope: LinkScope, type: TypeRef): WitType {
  if (typeof type === 'string') return primitiveType(type)
  const linked = scope.get('type', type)
  if (linked.kind !== 'value') throw invalidComponent(`Type ${type} is none of values`)
  return linked.type
}

export function resourceAt(scope: LinkScope, index: number): LiveResource {
  const linked = scope.get('type', index)
  if (linked.kind !== 'resource') throw invalidComponent(`Type ${index} is no resource`)
  return linked.resource
}

export function functionTypeAt(scope: LinkScope, index: number): FunctionType {
  const linked = scope.get('type', index)
  if (linked.kind !== 'func') throw invalidComponent(`Type ${index} is no type of functions`)
  return linked.type
}

/** What a type of instances declares, with what stands behind it. */
function linkDeclared(
  type: LinkedType,
  by: (path: string) => DeclaredBy,
  path: string,
): Map<string, LinkedItem> {
  if (type.kind !== 'instance')
    throw invalidComponent('An import is described by another type than it has to be')
  const scope = new LinkScope(type.scope)
  const exports = new Map<string, LinkedItem>()
  scope.work.nested(() => {
    for (const declaration of type.declarations) linkDeclaration(scope, declaration, exports, by, path)
  })
  return exports
}

function linkDeclaration(
  scope: LinkScope,
  declaration: Declaration,
  exports: Map<string, LinkedItem>,
  by: (path: string) => DeclaredBy,
  path: string,
): void {
  switch (declaration.kind) {
    case 'type':
      scope.add('type', linkType(scope, declaration.type))
      return
    case 'alias': {
      const { target } = declaration
      if (target.kind === 'outer') {
        scope.addLinked(scope.outer(target.count).linked(target.sort, target.index))
        return
      }
      if (target.kind !== 'export') throw invalidComponent('A type looks into a core instance')
      scope.addLinked(exportOf(scope.get('instance', target.instance), target.name, target.sort))
      return
    }
    case 'import':
      throw invalidComponent('A type of instances has an import')
    case 'export': {
      const { name } = declaration
      const item = linkDescribed(scope, declaration.is, by, path, name)
      exports.set(name, item)
      scope.addLinked(item)
      return
    }
  }
}

/** What stands behind an import or a declared export. */
export function linkDescribed(
  scope: LinkScope,
  is: ExternDescription,
  by: (path: string) => DeclaredBy,
  path: string,
  name: string,
): LinkedItem {
  if (is.sort === 'type') {
    if (is.equals === 'resource')
      return { sort: 'type', item: { kind: 'resource', resource: by(path).resource(name) } }
    return { sort: 'type', item: scope.get('type', is.equals) }
  }
  if (is.sort === 'func') return by(path).func(name, functionTypeAt(scope, is.type))
  if (is.sort === 'component') throw unsupportedInComponent('components as imports')
  return { sort: 'instance', item: linkDeclared(scope.get('type', is.type), by, name) }
}

/** @throws CaissonError `invalid_component` */
export function exportOf(instance: ReadonlyMap<string, LinkedItem>, name: string, sort: string): LinkedItem {
  const item = instance.get(name)
  if (item === undefined || item.sort !== sort) throw invalidComponent(`An instance has no ${sort} "${name}"`)
  return item
}
