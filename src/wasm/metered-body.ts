/**
 * Writes one function with its charges, checks and depth count.
 *
 * 1. At every seam the order is fixed: what is charged on the way in, a check of that way; then, where a block
 *    begins, the depth of a handler, its charge and its check; right before an exit the store of a cached
 *    counter and the end of the depth count. Both profiles write the same sites.
 * 2. Labels keep their meaning between shells and blocks that are put around what was there.
 */
import { BodySeams, NO_SEAM } from './body-seams.ts'
import type { CheckSites } from './check-sites.ts'
import type { CodeWriter } from './code-writer.ts'
import { type CounterCache, usesGlobalCounter } from './counter-cache.ts'
import { type CheckedHead, CounterWriter } from './counter-writer.ts'
import type { DecodedBody } from './decoded-body.ts'
import { EXIT, type FlowGraph, ROLE } from './flow-graph.ts'
import { LoopShells } from './loop-shell.ts'
import type { MeterRuntime } from './meter-runtime.ts'
import { OP } from './opcode-table.ts'
import type { Placement } from './placement.ts'
import { type BodyHooks, rewriteBody } from './rewrite-body.ts'
import { I32, I64, type ValueType } from './value-type.ts'

/** What a body becomes. */
export interface BodyPlan {
  readonly body: DecodedBody
  readonly graph: FlowGraph
  readonly placement: Placement
  readonly checks: CheckSites
  /** 1 for `loop` instructions that get a shell; undefined if none does. */
  readonly shells: Uint8Array | undefined
  readonly cache: CounterCache | undefined
  /** Bytes of native stack to count on entry; 0 for none. */
  readonly depthWeight: number
  /** Whether handlers restore the depth. */
  readonly restoresDepth: boolean
  /** New index of a function. */
  readonly mapFunction: (index: number) => number
  /** The function that stands in for a bulk instruction at this place. */
  readonly bulkFunction: (at: number) => number | undefined
  /** Writes the block type of a wrapper with the results of the function. */
  readonly writeWrapper: (code: CodeWriter) => void
}

/** Numbers of sites in one function. */
export interface SiteCounts {
  readonly charges: number
  readonly checks: number
}

/** Writes locals and code. */
export function writeMeteredBody(plan: BodyPlan, runtime: MeterRuntime, code: CodeWriter): SiteCounts {
  return new MeteredBodyWriter(plan, runtime, code).write()
}

class MeteredBodyWriter implements BodyHooks {
  readonly #plan: BodyPlan
  readonly #runtime: MeterRuntime
  readonly #code: CodeWriter
  readonly #seams: BodySeams
  readonly #shells: LoopShells | undefined
  readonly #counter: CounterWriter
  readonly #depthLocal: number
  readonly #selectorLocal: number
  readonly #locals: ValueType[] = []

  constructor(plan: BodyPlan, runtime: MeterRuntime, code: CodeWriter) {
    this.#plan = plan
    this.#runtime = runtime
    this.#code = code
    this.#seams = new BodySeams(plan.graph, plan.body.length)
    this.#shells = plan.shells === undefined ? undefined : new LoopShells(plan.body, plan.shells)
    this.#counter = new CounterWriter(code, runtime, plan.body.locals, plan.cache !== undefined)
    if (plan.cache !== undefined || this.#hasChecks()) this.#locals.push(I64)
    this.#depthLocal = plan.body.locals + this.#locals.length
    if (plan.depthWeight > 0 || plan.restoresDepth) this.#locals.push(I32)
    this.#selectorLocal = plan.body.locals + this.#locals.length
    if (this.#seams.edgeEntry.some((edge) => this.#edgeCharge(edge) !== 0)) this.#locals.push(I32)
  }

  write(): SiteCounts {
    const wrapper = this.#plan.graph.wrapped ? this.#plan.writeWrapper : undefined
    rewriteBody(this.#plan.body, this.#code, { locals: this.#locals, wrapper }, this)
    return { charges: this.#counter.charges, checks: this.#counter.checks }
  }

  /** Whether a check may need a temporary local. */
  #hasChecks(): boolean {
    const { checks } = this.#plan
    return checks.blocks.includes(1) || checks.edges.includes(1)
  }

  #edgeCharge(edge: number): number {
    return edge === NO_SEAM ? 0 : (this.#plan.placement.edges[edge] as number)
  }

  #edgeCheck(edge: number): boolean {
    return edge !== NO_SEAM && this.#plan.checks.edges[edge] === 1
  }

  hasBefore(at: number): boolean {
    const { edgeOtherwise, edgeBefore } = this.#seams
    if (edgeOtherwise[at] !== NO_SEAM || edgeBefore[at] !== NO_SEAM) return true
    if (this.#shells?.opensAt(at) === true) return true
    return this.#counter.dirty && this.#looksAtGlobal(at)
  }

  before(at: number): void {
    const counter = this.#counter
    const edge = this.#seams.edgeBefore[at] as number
    if (edge !== NO_SEAM) {
      this.#spendOnEdge(edge, at, 0)
      if (this.#plan.graph.to.at(edge) === EXIT) this.#leave()
    }
    if (this.#looksAtGlobal(at)) counter.store()
    const otherwise = this.#edgeCharge(this.#seams.edgeOtherwise[at] as number)
    if (otherwise !== 0) {
      this.#code.op(OP.else)
      counter.charge(otherwise)
    }
    if (this.#shells?.opensAt(at) === true) this.#shells.open(at, this.#code)
  }

  hasAfter(at: number): boolean {
    if (at === -1 || this.#seams.blockBehind[at + 1] !== NO_SEAM) return true
    if (this.#shells?.closesAt(at) === true) return true
    return this.#plan.cache?.lastUse[this.#plan.graph.blockOf.at(at)] === at
  }

  after(at: number): void {
    if (at === -1) this.#enter()
    else this.#reload(at)
    this.#closeShell(at)
    const block = this.#seams.blockBehind[at + 1] as number
    if (block !== NO_SEAM) this.#begin(block, at)
  }

  replace(at: number): boolean {
    const { body, mapFunction } = this.#plan
    const opcode = body.opcodes.at(at)
    switch (opcode) {
      case OP.call:
      case OP.returnCall:
      case OP.refFunc:
        this.#code.op(opcode, mapFunction(body.first.at(at)))
        return true
      case OP.brIf:
        return this.#rewriteConditional(at)
      case OP.br:
      case OP.brOnNull:
      case OP.brOnNonNull:
        return this.#rewriteBranch(at)
      case OP.brTable:
        return this.#rewriteTable(at)
    }
    const helper = this.#plan.bulkFunction(at)
    if (helper === undefined) return false
    this.#code.op(OP.call, helper)
    return true
  }

  /** What a block begins with. */
  #begin(block: number, at: number): void {
    const { graph, cache, checks, placement, restoresDepth } = this.#plan
    const counter = this.#counter
    if (cache !== undefined && at !== -1) counter.dirty = cache.dirtyIn[block] === 1
    if (graph.roles.at(block) === ROLE.handler && restoresDepth) {
      this.#code.op(OP.localGet, this.#depthLocal).op(OP.globalSet, this.#runtime.depthGlobal)
    }
    const way = this.#edgeCharge(this.#seams.edgeBehind[at + 1] as number)
    const charge = placement.blocks[block] as number
    if (checks.blocks[block] !== 1) {
      counter.charge(way + charge)
    } else if (placement.checksFirst) {
      counter.check(way, this.#headOf(block, 0, 0))
      counter.charge(charge)
    } else {
      counter.check(way + charge, this.#headOf(block, 0, charge))
    }
  }

  /** The loop whose head the block is, for a check. */
  #headOf(block: number, label: number, again: number): CheckedHead | undefined {
    const { graph } = this.#plan
    if (block === EXIT || !graph.isPlainHead(block)) return undefined
    return { label, again, shelled: this.#shells?.opensAt(graph.starts.at(block)) === true }
  }

  /** Charges and checks on the way of a branch, `inside` so many constructs that were put around it. */
  #spendOnEdge(edge: number, at: number, inside: number): void {
    const charge = this.#edgeCharge(edge)
    if (!this.#edgeCheck(edge)) {
      this.#counter.charge(charge)
      return
    }
    const label = this.#label(at, this.#plan.body.first.at(at)) + inside
    this.#counter.check(charge, this.#headOf(this.#plan.graph.to.at(edge), label, 0))
  }

  #closeShell(at: number): void {
    const shells = this.#shells
    if (shells === undefined || !shells.closesAt(at)) return
    const { placement, checks } = this.#plan
    const head = this.#seams.blockBehind[shells.loopOf(at) + 1] as number
    const charged = checks.blocks[head] === 1 && !placement.checksFirst
    shells.close(this.#code, () => {
      this.#counter.refill()
      if (charged) this.#counter.giveBack(placement.blocks[head] as number)
    })
  }

  /** The number of a label as it is written. */
  #label(at: number, label: number): number {
    return this.#shells?.label(at, label) ?? label
  }

  /** Writes a branch with the label that it has between shells. */
  #rewriteBranch(at: number): boolean {
    if (this.#shells === undefined) return false
    const { opcodes, first } = this.#plan.body
    this.#code.op(opcodes.at(at), this.#label(at, first.at(at)))
    return true
  }

  /** Writes a conditional branch, as an `if` around a branch where its way is charged or checked. */
  #rewriteConditional(at: number): boolean {
    const edge = this.#seams.edgeTaken[at] as number
    if (this.#edgeCharge(edge) === 0 && !this.#edgeCheck(edge)) return this.#rewriteBranch(at)
    const counter = this.#counter
    const { dirty } = counter
    this.#code.if()
    this.#spendOnEdge(edge, at, 1)
    this.#code.op(OP.br, this.#label(at, this.#plan.body.first.at(at)) + 1).op(OP.end)
    counter.dirty = dirty
    return true
  }

  /**
   * Writes a `br_table` with the labels that it has between shells. If entries that lead to the head of a loop
   * are charged, a block is put around it that they leave to be charged behind it.
   */
  #rewriteTable(at: number): boolean {
    const edge = this.#seams.edgeEntry[at] as number
    const charge = this.#edgeCharge(edge)
    if (charge === 0) {
      if (this.#shells === undefined) return false
      this.#writeTable(at, (label) => this.#label(at, label))
      return true
    }
    const code = this.#code
    const counter = this.#counter
    const { dirty } = counter
    const charged = this.#plan.graph.entryLabels.get(edge) as number
    code.op(OP.localSet, this.#selectorLocal).open(OP.block).op(OP.localGet, this.#selectorLocal)
    this.#writeTable(at, (label) => (label === charged ? 0 : this.#label(at, label) + 1))
    code.op(OP.end)
    counter.charge(charge)
    code.op(OP.br, this.#label(at, charged))
    counter.dirty = dirty
    return true
  }

  #writeTable(at: number, label: (label: number) => number): void {
    const { first, second, pool } = this.#plan.body
    const count = second.at(at)
    this.#code.op(OP.brTable, count - 1)
    for (let entry = 0; entry < count; entry++) this.#code.out.u32(label(pool.at(first.at(at) + entry)))
  }

  #looksAtGlobal(at: number): boolean {
    const { body, graph } = this.#plan
    return at < body.length && graph.blockOf.at(at) !== NO_SEAM && usesGlobalCounter(body.opcodes.at(at))
  }

  /** The function's own beginning: depth, then the cached counter. */
  #enter(): void {
    const plan = this.#plan
    const { depthGlobal, deepFunction } = this.#runtime
    const code = this.#code
    if (plan.depthWeight > 0) {
      code.op(OP.globalGet, depthGlobal).i32(plan.depthWeight).op(OP.i32Sub)
      code.op(OP.localTee, this.#depthLocal).op(OP.globalSet, depthGlobal)
      code.op(OP.localGet, this.#depthLocal).i32(0).op(OP.i32LtS)
      code.if().op(OP.call, deepFunction).op(OP.end)
    } else if (plan.restoresDepth) {
      code.op(OP.globalGet, depthGlobal).op(OP.localSet, this.#depthLocal)
    }
    if (plan.cache?.liveIn[0] === 1) this.#counter.load()
  }

  /** Right before an exit. */
  #leave(): void {
    this.#counter.store()
    const { depthWeight } = this.#plan
    if (depthWeight === 0) return
    // Callees gave back what they took: no local has to hold the value of the entry all the while.
    const { depthGlobal } = this.#runtime
    this.#code.op(OP.globalGet, depthGlobal).i32(depthWeight).op(OP.i32Add).op(OP.globalSet, depthGlobal)
  }

  /** Loads the counter behind the last instruction of a block that may have changed it. */
  #reload(at: number): void {
    const { cache, graph } = this.#plan
    const block = graph.blockOf.at(at)
    if (cache === undefined || block === NO_SEAM) return
    if (cache.lastUse[block] === at && cache.liveOut[block] === 1) this.#counter.load()
  }
}
