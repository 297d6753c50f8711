/**
 * Measures how often each block of a module runs, as input for `MeterOptions.frequencies`.
 *
 * The counting module is for measurements, not for use: it has a 64-bit global per block, and runs several times
 * slower. Blocks are numbered as the metering pass numbers them. (It divides blocks of more than 65,536 fuel: in
 * such a function the numbers do not match, and the pass estimates.)
 */
import { CaissonError } from '../base/errors.ts'
import { buildFlowGraph } from './build-flow-graph.ts'
import { ByteWriter } from './byte-writer.ts'
import { codeContext } from './code-context.ts'
import { CodeWriter } from './code-writer.ts'
import { decodeBody } from './decode-body.ts'
import { DecodedBody } from './decoded-body.ts'
import { encodeModule } from './encode-module.ts'
import type { FlowContext } from './flow-context.ts'
import { type FlowGraph, ROLE } from './flow-graph.ts'
import type { BlockFrequencies } from './meter-options.ts'
import type { Export, FunctionBody, Global, Module } from './module.ts'
import { OP } from './opcode-table.ts'
import { parseModule } from './parse-module.ts'
import { ResultBlocks } from './result-block.ts'
import { rewriteBody } from './rewrite-body.ts'
import { mayUnwind, scanModule } from './scan-module.ts'
import { I64 } from './value-type.ts'

/** Which blocks a counting module counts. */
export interface BlockLayout {
  /** Index (imports included) and number of blocks of each defined function, in order. */
  readonly functions: readonly { readonly index: number; readonly blocks: number }[]
}

/** A module that counts its blocks. */
export interface CountingModule {
  readonly wasm: Uint8Array
  readonly layout: BlockLayout
}

const EXPORT_PREFIX = 'caisson.block.'
/** Engines allow so many globals and exports. */
const MAX_BLOCKS = 900_000

/** Options that the later metering has, as far as they decide about blocks. */
export interface CountOptions {
  readonly importsMayThrow?: boolean
}

/** Makes a module count how often each of its blocks runs. */
export function countBlocks(wasm: Uint8Array, options: CountOptions = {}): CountingModule {
  const module = parseModule(wasm)
  const context = codeContext(module)
  const scan = scanModule(module, context)
  const flow: FlowContext = {
    types: context.types,
    maxBlock: Number.POSITIVE_INFINITY,
    cost: () => 0,
    unchecked: () => 0,
    advance: () => 0,
    unwinds: mayUnwind(scan, options.importsMayThrow === true),
  }
  const body = new DecodedBody()
  const results = new ResultBlocks(module)
  const functions: { index: number; blocks: number }[] = []
  let counter = context.globals
  const bodies = module.bodies.map((source, at): FunctionBody => {
    const index = context.importedFunctions + at
    decodeBody(context, source, index, body)
    const graph = buildFlowGraph(body, flow)
    const bytes = writeCounters(body, graph, counter, results)
    counter += graph.blocks
    functions.push({ index, blocks: graph.blocks })
    return { bytes, offset: 0 }
  })
  const counters = counter - context.globals
  if (counters > MAX_BLOCKS) {
    throw new CaissonError(
      'unsupported',
      `The module has ${counters} blocks; at most ${MAX_BLOCKS} can be counted`,
    )
  }
  const counting = addCounters({ ...module, types: results.types, bodies }, context.globals, counters)
  return { wasm: encodeModule(counting), layout: { functions } }
}

function addCounters(module: Module, first: number, counters: number): Module {
  const init = new CodeWriter().i64(0).op(OP.end).out.copy()
  const global: Global = { type: { value: I64, mutable: true }, init }
  const exports = Array.from({ length: counters }, (_, at): Export => {
    return { name: EXPORT_PREFIX + at, kind: 'global', index: first + at }
  })
  return {
    ...module,
    globals: [...module.globals, ...new Array<Global>(counters).fill(global)],
    exports: [...module.exports, ...exports],
  }
}

function writeCounters(
  body: DecodedBody,
  graph: FlowGraph,
  first: number,
  results: ResultBlocks,
): Uint8Array {
  const code = new CodeWriter(new ByteWriter(body.bytes.length * 2 + 64))
  const blockBehind = new Map<number, number>()
  for (let block = 0; block < graph.blocks; block++) {
    if (graph.roles.at(block) !== ROLE.pad) blockBehind.set(graph.starts.at(block), first + block)
  }
  const wrapper = graph.wrapped ? (out: CodeWriter): void => results.write(out, body.typeIndex) : undefined
  rewriteBody(
    body,
    code,
    { locals: [], wrapper },
    {
      hasBefore: () => false,
      before: () => {},
      hasAfter: (at) => blockBehind.has(at),
      after: (at) => {
        const counter = blockBehind.get(at) as number
        code.op(OP.globalGet, counter).i64(1).op(OP.i64Add).op(OP.globalSet, counter)
      },
      replace: () => false,
    },
  )
  return code.out.copy()
}

/** Reads the counters of an instance of a counting module. */
export function readBlockCounts(
  layout: BlockLayout,
  exports: Readonly<Record<string, unknown>>,
): BlockFrequencies {
  const counts = new Map<number, Float64Array>()
  let counter = 0
  for (const { index, blocks } of layout.functions) {
    const values = new Float64Array(blocks)
    for (let block = 0; block < blocks; block++) {
      const global = exports[EXPORT_PREFIX + counter++] as { readonly value: bigint } | undefined
      if (global === undefined)
        throw new CaissonError('invalid_argument', 'These exports are not of that module')
      values[block] = Number(global.value)
    }
    counts.set(index, values)
  }
  return counts
}
