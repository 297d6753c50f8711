/**
 * Who may call whom.
 *
 * Nodes are the defined functions, one hub per function type for calls through tables and references, and one
 * for the host. A hub leads to every function of its type that somebody may hold a reference to, and to the host;
 * the host leads to everything that is exported or referable, if imports may call back.
 */
import type { CodeContext } from './code-context.ts'
import { visitFunctionReferences } from './constant-expression.ts'
import type { FunctionType, Module } from './module.ts'
import type { ModuleScan } from './scan-module.ts'

/** A directed graph as adjacency lists: the successors of `n` are `list[first[n] .. first[n + 1]]`. */
export interface CallGraph {
  /** Nodes below this number are defined functions, by their index without imports. */
  readonly functions: number
  readonly nodes: number
  readonly first: Int32Array
  readonly list: Int32Array
  /** 1 for defined functions that code outside of the module, or a reference, may call. */
  readonly reachableFromOutside: Uint8Array
  /** The hub of a function type, by type index. */
  hubOf(type: number): number
}

/** Builds the call graph of a scanned module. */
export function buildCallGraph(
  module: Module,
  context: CodeContext,
  scan: ModuleScan,
  importsMayCallBack: boolean,
): CallGraph {
  const functions = module.functions.length
  const imported = context.importedFunctions
  const hubs = typeHubs(context.types, functions)
  const host = functions + hubs.count
  const referable = referableFunctions(module)
  const outside = new Uint8Array(functions)
  const successors: number[][] = Array.from({ length: host + 1 }, () => [])
  const addReachable = (index: number): void => {
    if (index >= imported) outside[index - imported] = 1
  }
  for (const index of referable) {
    addReachable(index)
    const hub = hubs.of[context.functions[index] as number] as number
    successors[hub]?.push(index < imported ? host : index - imported)
  }
  for (const item of module.exports) if (item.kind === 'function') addReachable(item.index)
  if (module.start !== undefined) addReachable(module.start)
  for (let hub = functions; hub < host; hub++) successors[hub]?.push(host)
  for (let index = 0; index < functions; index++) {
    if (importsMayCallBack && outside[index] === 1) successors[host]?.push(index)
  }
  for (const [index, summary] of scan.functions.entries()) {
    const own = successors[index] as number[]
    let callsHost = false
    for (const callee of summary.callees) {
      if (callee >= imported) own.push(callee - imported)
      else callsHost = true
    }
    const seen = new Set(summary.indirectTypes.map((type) => hubs.of[type] as number))
    own.push(...seen)
    if (callsHost) own.push(host)
  }
  const { first, list } = flatten(successors)
  return {
    functions,
    nodes: host + 1,
    first,
    list,
    reachableFromOutside: outside,
    hubOf: (type) => hubs.of[type] as number,
  }
}

/** One hub per function type; equal types share it. */
function typeHubs(
  types: readonly FunctionType[],
  firstHub: number,
): { of: readonly number[]; count: number } {
  const byShape = new Map<string, number>()
  const of = types.map((type) => {
    const shape = `${type.params.join()}:${type.results.join()}`
    const hub = byShape.get(shape) ?? firstHub + byShape.size
    byShape.set(shape, hub)
    return hub
  })
  return { of, count: byShape.size }
}

/** Functions that references may exist to: validation demands that code refers only to these. */
function referableFunctions(module: Module): ReadonlySet<number> {
  const found = new Set<number>()
  const add = (index: number): void => {
    found.add(index)
  }
  for (const item of module.exports) if (item.kind === 'function') add(item.index)
  for (const global of module.globals) visitFunctionReferences(global.init, add)
  for (const table of module.tables) if (table.init !== undefined) visitFunctionReferences(table.init, add)
  for (const { items } of module.elements) {
    if (items.kind === 'functions') for (const index of items.indices) add(index)
    else for (const expression of items.expressions) visitFunctionReferences(expression, add)
  }
  return found
}

function flatten(successors: readonly (readonly number[])[]): { first: Int32Array; list: Int32Array } {
  const first = new Int32Array(successors.length + 1)
  for (const [node, next] of successors.entries()) first[node + 1] = (first[node] as number) + next.length
  const list = new Int32Array(first[successors.length] as number)
  for (const [node, next] of successors.entries()) list.set(next, first[node] as number)
  return { first, list }
}
