/**
 * Makes any core module count its work in fuel and its recursion in bytes, and stop when either is used up.
 *
 * The metered module imports one function, `caisson.refill (kind: i32) -> i64`, and exports two mutable globals:
 * `caisson.fuel` (i64, counts down) and `caisson.depth` (i32, counts down, back up on every way out). It defines
 * them, or imports those that several modules share (`MeterOptions.counters`).
 *
 * 1. Exact: when an export has returned, or thrown an exception, the counter has gone down by the prices
 *    (`cost.ts`) of exactly the instructions that were executed. Where charges stand never shows in the total.
 * 2. Slices: where a check finds the counter below zero, `refill(0)` is called with the counter in the global.
 *    It returns the new value of the counter, not negative, to go on; a negative one makes the module execute
 *    `unreachable`. The sites of checks do not depend on the size of slices, so that fuel of a given total runs
 *    out at the same place however it was handed out.
 * 3. Nothing runs for long without a check: every cycle of every flow graph and of the call graph has one, and
 *    `maxFuelBetweenChecks` bounds what lies between two.
 * 4. Depth: functions that end recursion take an estimate of their native frame from `caisson.depth` and put it
 *    back. Below zero, `refill(1)` is called; negative stops as in 2, otherwise the module goes on (the host may
 *    have raised the global). The estimate depends on the module only, not on the engine.
 * 5. No code runs before the host has set its limits: a start function becomes the export `caisson.start`, unless
 *    the host says otherwise (`MeterOptions.start`).
 * 6. A trap ends the instance; then the counter may lack or exceed what the interrupted functions did.
 * 7. The same bytes and options give the same bytes. Both profiles have the same sites and the same counts.
 */

import { buildFlowGraph } from './build-flow-graph.ts'
import { ByteWriter } from './byte-writer.ts'
import { callCounts } from './call-counts.ts'
import { buildCallGraph, type CallGraph } from './call-graph.ts'
import { capModule } from './cap.ts'
import { type BlockCalls, type CheckSummary, chooseChecks, MAX_BLOCK } from './check-sites.ts'
import { type CodeContext, codeContext } from './code-context.ts'
import { CodeWriter } from './code-writer.ts'
import { BULK_BY_OPCODE, fuelCost } from './cost.ts'
import { planCounterCache } from './counter-cache.ts'
import { decodeBody } from './decode-body.ts'
import { DecodedBody } from './decoded-body.ts'
import { encodeModule } from './encode-module.ts'
import type { FlowContext } from './flow-context.ts'
import type { FlowGraph } from './flow-graph.ts'
import { estimateFrequencies, type Frequencies, type Outgoing, outgoingEdges } from './frequency.ts'
import { chooseShells } from './loop-shell.ts'
import { measuredFrequencies } from './measured-frequency.ts'
import { MeterAdditions } from './meter-additions.ts'
import { prepareModule } from './meter-input.ts'
import { type Metered, type MeterOptions, type MeterReport, START_EXPORT } from './meter-options.ts'
import { writeMeteredBody } from './metered-body.ts'
import type { FunctionBody, Module } from './module.ts'
import { unsupportedFeature } from './module-error.ts'
import { moduleFeatures } from './module-features.ts'
import { OP } from './opcode-table.ts'
import { parseModule } from './parse-module.ts'
import { type LookPoints, placeCharges } from './placement.ts'
import { cutRecursion, type RecursionCuts } from './recursion.ts'
import { type ModuleScan, mayUnwind, scanSteps } from './scan-module.ts'

export type { Metered, MeterOptions } from './meter-options.ts'

/**
 * Meters a core module.
 *
 * @param wasm bytes that an engine accepts (`WebAssembly.validate`): operand types are not checked again.
 * @throws `invalid_module` with an offset; `unsupported_feature` with the feature's name; `invalid_limit` if the
 *   module needs more memory or table entries from the start than the options allow.
 */
export function meter(wasm: Uint8Array, options: MeterOptions): Metered {
  const steps = meterSteps(wasm, options)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Share of the work that is done when all bodies were looked at, and none rewritten. */
const SCANNED = 0.2

/**
 * Meters a core module function by function, so that its caller can do something else in between. Yields how much
 * is done, from 0 to 1. What it returns and throws is that of `meter`.
 */
export function* meterSteps(wasm: Uint8Array, options: MeterOptions): Generator<number, Metered, void> {
  return yield* meterModuleSteps(parseModule(wasm), wasm.length, options)
}

/**
 * As `meterSteps`, of a module that was parsed: of what `encodeModule` would make of it, without making it.
 *
 * @param bytesIn for the report
 */
export function* meterModuleSteps(
  parsed: Module,
  bytesIn: number,
  options: MeterOptions,
): Generator<number, Metered, void> {
  const module = prepareModule(capModule(parsed, options), options)
  const context = codeContext(module)
  const functions = Math.max(1, module.functions.length)
  const looks = scanSteps(module, context)
  let look = looks.next()
  for (; look.done !== true; look = looks.next()) yield (SCANNED * look.value) / functions
  const pass = new MeterPass(module, options, context, look.value)
  const work = pass.steps()
  let step = work.next()
  for (; step.done !== true; step = work.next()) yield SCANNED + ((1 - SCANNED) * step.value) / functions
  const metered = encodeModule(step.value)
  return { wasm: metered, report: pass.report(bytesIn, metered.length) }
}

/** Engines refuse longer bodies. */
const MAX_BODY_BYTES = 7_654_321

class MeterPass {
  readonly #module: Module
  readonly #options: MeterOptions
  readonly #context: CodeContext
  readonly #scan: ModuleScan
  readonly #calls: CallGraph
  readonly #cuts: RecursionCuts
  readonly #additions: MeterAdditions
  /** What callers know of each node of the call graph. */
  readonly #summaries: CheckSummary[]
  /** What callers of each defined function pay in advance. */
  readonly #entryCharges: Float64Array
  readonly #flow: FlowContext
  readonly #body: DecodedBody = new DecodedBody()
  readonly #code: CodeWriter = new CodeWriter(new ByteWriter(1 << 16))
  #blocks = 0
  #chargeSites = 0
  #checkSites = 0
  #cached = 0
  #longest = 0
  #owed = 0

  constructor(module: Module, options: MeterOptions, context: CodeContext, scan: ModuleScan) {
    this.#module = module
    this.#options = options
    this.#context = context
    this.#scan = scan
    this.#calls = buildCallGraph(module, context, this.#scan, options.importsMayCallBack !== false)
    const counts = callCounts(scan, context, options.frequencies)
    this.#cuts = cutRecursion(this.#calls, this.#scan.functions, counts)
    this.#additions = new MeterAdditions(module, context, {
      shared: options.counters === 'shared',
      reportsGrowth: options.reportsGrowth === true,
    })
    this.#summaries = new Array<CheckSummary>(this.#calls.nodes).fill(IMPORT)
    this.#entryCharges = new Float64Array(module.functions.length)
    for (const [index, cut] of this.#cuts.checked.entries())
      if (cut === 1) this.#summaries[index] = CHECKED_CALLEE
    this.#flow = this.#flowContext()
  }

  #flowContext(): FlowContext {
    const { importedFunctions, types } = this.#context
    return {
      types,
      maxBlock: MAX_BLOCK,
      cost: (body, at) => fuelCost(body.opcodes.at(at)),
      advance: (body, at) => {
        const opcode = body.opcodes.at(at)
        if (opcode !== OP.call && opcode !== OP.returnCall) return 0
        const callee = body.first.at(at) - importedFunctions
        return callee < 0 ? 0 : (this.#entryCharges[callee] as number)
      },
      unchecked: (body, at) => {
        const callee = this.#callee(body, at)
        return callee === undefined ? 0 : Math.max(callee.through, 0)
      },
      unwinds: mayUnwind(this.#scan, this.#options.importsMayThrow === true),
    }
  }

  /** What is known of the callee, if the instruction is a call. */
  #callee(body: DecodedBody, at: number): CheckSummary | undefined {
    switch (body.opcodes.at(at)) {
      case OP.call:
      case OP.returnCall: {
        const callee = body.first.at(at) - this.#context.importedFunctions
        return callee < 0 ? IMPORT : (this.#summaries[callee] as CheckSummary)
      }
      case OP.callIndirect:
      case OP.returnCallIndirect:
      case OP.callRef:
      case OP.returnCallRef:
        return this.#summaries[this.#calls.hubOf(body.first.at(at))]
      default:
        return undefined
    }
  }

  /** Whether the instruction may look at the counter: what checks, and what may lead to the host. */
  #looks(body: DecodedBody, at: number): boolean {
    if (BULK_BY_OPCODE.has(body.opcodes.at(at))) return true
    const callee = this.#callee(body, at)
    return callee !== undefined && (callee.through < 0 || callee.before >= 0 || callee.after >= 0)
  }

  /** Rewrites everything; yields how many functions are done. */
  *steps(): Generator<number, Module, void> {
    const { functions } = this.#calls
    const bodies = new Array<FunctionBody>(functions)
    let done = 0
    for (const node of this.#cuts.order) {
      if (node >= functions) {
        this.#summaries[node] = this.#joinTargets(node)
        continue
      }
      bodies[node] = this.#rewrite(node)
      done += 1
      yield done
    }
    return this.#additions.finish(bodies)
  }

  /** What is known of a call by reference: any of its targets may be meant. */
  #joinTargets(hub: number): CheckSummary {
    const { first, list, nodes } = this.#calls
    if (hub === nodes - 1) return IMPORT
    let { through, before, after } = IMPORT
    for (let slot = first[hub] as number; slot < (first[hub + 1] as number); slot++) {
      const target = this.#summaries[list[slot] as number] as CheckSummary
      through = Math.max(through, target.through)
      before = Math.max(before, target.before)
      after = Math.max(after, target.after)
    }
    return { through, before, after }
  }

  #rewrite(index: number): FunctionBody {
    const source = this.#module.bodies[index] as FunctionBody
    const functionIndex = this.#context.importedFunctions + index
    decodeBody(this.#context, source, functionIndex, this.#body)
    const graph = buildFlowGraph(this.#body, this.#flow)
    const outgoing = outgoingEdges(graph)
    const frequencies = this.#frequencies(graph, outgoing, functionIndex)
    const calls = this.#blockCalls(graph)
    const checks = chooseChecks(graph, outgoing, frequencies, calls, this.#cuts.checked[index] === 1)
    const freeEntry = this.#calls.reachableFromOutside[index] === 0 && checks.blocks[0] === 0
    const looks: LookPoints = { ...checks, calls: this.#lookingBlocks(graph) }
    const placement = placeCharges(graph, frequencies, looks, freeEntry)
    this.#summaries[index] = checks.summary
    this.#entryCharges[index] = placement.entryCharge
    const catches = this.#scan.functions[index]?.catches === true
    const counts = this.#options.depth !== false
    const cache =
      this.#options.profile === 'v8' && !catches
        ? planCounterCache(this.#body, graph, outgoing, frequencies, placement, checks)
        : undefined
    const code = this.#code
    code.out.clear()
    const sites = writeMeteredBody(
      {
        body: this.#body,
        graph,
        placement,
        checks,
        shells: catches ? undefined : chooseShells(this.#body, graph, frequencies, checks),
        cache,
        depthWeight: counts ? (this.#cuts.weights[index] as number) : 0,
        restoresDepth: counts && catches,
        mapFunction: (callee) => this.#additions.mapFunction(callee),
        bulkFunction: (at) => this.#additions.bulkFunction(this.#body, at),
        writeWrapper: (writer) => this.#additions.resultBlocks.write(writer, this.#body.typeIndex),
      },
      this.#additions.runtime,
      code,
    )
    if (code.out.length > MAX_BODY_BYTES) {
      throw unsupportedFeature(
        `a function longer than ${MAX_BODY_BYTES} bytes once metered`,
        source.offset,
        functionIndex,
      )
    }
    this.#blocks += graph.blocks
    this.#chargeSites += sites.charges
    this.#checkSites += sites.checks
    if (cache !== undefined) this.#cached++
    this.#longest = Math.max(this.#longest, checks.longest)
    this.#owed = Math.max(this.#owed, placement.maxOwed)
    return { bytes: code.out.copy(), offset: 0 }
  }

  #frequencies(graph: FlowGraph, outgoing: Outgoing, functionIndex: number): Frequencies {
    const guess = estimateFrequencies(graph, outgoing)
    const counts = this.#options.frequencies?.get(functionIndex)
    if (counts === undefined || counts.length !== graph.blocks) return guess
    return measuredFrequencies(graph, outgoing, guess, counts)
  }

  #blockCalls(graph: FlowGraph): ReadonlyMap<number, BlockCalls> {
    const calls = new Map<number, BlockCalls>()
    const body = this.#body
    for (let at = 0; at < body.length; at++) {
      const block = graph.blockOf.at(at)
      if (block < 0) continue
      const callee = this.#callee(body, at)
      if (callee === undefined) continue
      const known = calls.get(block)
      calls.set(block, {
        cuts: known?.cuts === true || callee.through < 0,
        through: (known?.through ?? 0) + Math.max(callee.through, 0),
        before: Math.max(known?.before ?? -1, callee.before),
        after: Math.max(known?.after ?? -1, callee.after),
      })
    }
    return calls
  }

  /** 1 for blocks that end in an instruction that looks at the counter. */
  #lookingBlocks(graph: FlowGraph): Uint8Array {
    const looking = new Uint8Array(graph.blocks)
    for (let at = 0; at < this.#body.length; at++) {
      const block = graph.blockOf.at(at)
      if (block >= 0 && !isTailCall(this.#body.opcodes.at(at)) && this.#looks(this.#body, at))
        looking[block] = 1
    }
    return looking
  }

  report(bytesIn: number, bytesOut: number): MeterReport {
    const features = new Set([...this.#scan.features, ...moduleFeatures(this.#module)])
    return {
      features: [...features].sort(),
      hiddenState: [...this.#scan.hiddenState].sort(),
      functions: this.#module.functions.length,
      blocks: this.#blocks,
      chargeSites: this.#chargeSites,
      checkSites: this.#checkSites,
      depthSites:
        this.#options.depth === false ? 0 : this.#cuts.counted.reduce((sum, counted) => sum + counted, 0),
      cachedFunctions: this.#cached,
      maxFuelBetweenChecks: this.#longest,
      maxOwedFuel: this.#owed,
      uncountedDepthBytes: this.#cuts.uncounted,
      exportsStart: this.#module.exports.some(({ name }) => name === START_EXPORT),
      bytesIn,
      bytesOut,
    }
  }
}

/** What follows a tail call is an exit: everything is paid before. */
function isTailCall(opcode: number): boolean {
  return opcode === OP.returnCall || opcode === OP.returnCallIndirect || opcode === OP.returnCallRef
}

/** An import spends no fuel of the module, and may look at the counter. */
const IMPORT: CheckSummary = { through: 0, before: 0, after: 0 }
/** A function that checks on entry and was not looked at yet. */
const CHECKED_CALLEE: CheckSummary = { through: -1, before: 0, after: 0 }
