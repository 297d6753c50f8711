/**
 * Writes one function with its charges, checks and depth count.
 *
 * 1. At every seam the order is fixed: what is charged on the way in, a check of that way; then, where a block
 *    begins, the depth of a handler, its charge and its check; right before an exit the store of a cached
 *    counter and the end of the depth count. Both profiles write the same sites.
 * 2. A check at the head of a loop, or on a way back to it, does not fall through after a refill: it branches to
 *    the head (what the head charges was given back), where the check passes. So the call lies behind the loop in the compiler's order, and no register
 *    of the loop is spilled for it. In QuickJS' interpreter that is the difference between 1.37 and 1.13 times
 *    the time of the plain module (V8 11.3).
 */
import type { CheckSites } from './check-sites.ts'
import type { CodeWriter } from './code-writer.ts'
import { type CounterCache, usesGlobalCounter } from './counter-cache.ts'
import type { DecodedBody } from './decode-body.ts'
import { EDGE, EXIT, type FlowGraph, ROLE } from './flow-graph.ts'
import { LoopShells } from './loop-shell.ts'
import { OP } from './opcode-table.ts'
import type { Placement } from './placement.ts'
import { type BodyHooks, rewriteBody } from './rewrite-body.ts'
import { I32, I64, type ValueType } from './value-type.ts'

/** Globals and functions that metered code refers to, in the numbering of the metered module. */
export interface MeterRuntime {
  readonly fuelGlobal: number
  readonly depthGlobal: number
  /** `() -> ()`: the global fell below zero. */
  readonly refillFunction: number
  /** `(counter) -> counter`: the cached counter fell below zero. */
  readonly refillCachedFunction: number
  /** `() -> ()`: the depth allowance fell below zero. */
  readonly deepFunction: number
}

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

const NONE = -1

class MeteredBodyWriter implements BodyHooks {
  readonly #plan: BodyPlan
  readonly #runtime: MeterRuntime
  readonly #code: CodeWriter
  // Which block and edges have their seam at each instruction. Those behind one are shifted by one: entry is 0.
  readonly #blockBehind: Int32Array
  readonly #edgeBehind: Int32Array
  readonly #edgeBefore: Int32Array
  readonly #edgeTaken: Int32Array
  readonly #edgeOtherwise: Int32Array
  readonly #edgeEntry: Int32Array
  readonly #counterLocal: number
  readonly #depthLocal: number
  readonly #selectorLocal: number
  readonly #locals: ValueType[] = []
  readonly #shells: LoopShells | undefined
  /** Whether the local counter may differ from the global at the current point. */
  #dirty = false
  #charges = 0
  #checks = 0

  constructor(plan: BodyPlan, runtime: MeterRuntime, code: CodeWriter) {
    this.#plan = plan
    this.#runtime = runtime
    this.#code = code
    const seams = plan.body.length + 2
    this.#blockBehind = new Int32Array(seams).fill(NONE)
    this.#edgeBehind = new Int32Array(seams).fill(NONE)
    this.#edgeBefore = new Int32Array(seams).fill(NONE)
    this.#edgeTaken = new Int32Array(seams).fill(NONE)
    this.#edgeOtherwise = new Int32Array(seams).fill(NONE)
    this.#edgeEntry = new Int32Array(seams).fill(NONE)
    this.#locateSeams()
    this.#counterLocal = plan.body.locals
    if (plan.cache !== undefined || this.#fusesOnGlobal()) this.#locals.push(I64)
    this.#depthLocal = plan.body.locals + this.#locals.length
    if (plan.depthWeight > 0 || plan.restoresDepth) this.#locals.push(I32)
    this.#selectorLocal = plan.body.locals + this.#locals.length
    if (this.#edgeEntry.some((edge) => this.#edgeCharge(edge) !== 0)) this.#locals.push(I32)
    this.#shells = plan.shells === undefined ? undefined : new LoopShells(plan.body, plan.shells)
  }

  write(): SiteCounts {
    const wrapper = this.#plan.graph.wrapped ? this.#plan.writeWrapper : undefined
    rewriteBody(this.#plan.body, this.#code, { locals: this.#locals, wrapper }, this)
    return { charges: this.#charges, checks: this.#checks }
  }

  #locateSeams(): void {
    const { graph } = this.#plan
    for (let block = 0; block < graph.blocks; block++) {
      if (graph.roles.at(block) !== ROLE.pad) this.#blockBehind[graph.starts.at(block) + 1] = block
    }
    for (let edge = 0; edge < graph.edges; edge++) {
      const at = graph.instructions.at(edge)
      switch (graph.kinds.at(edge)) {
        case EDGE.before:
          this.#edgeBefore[at] = edge
          break
        case EDGE.after:
          this.#edgeBehind[at + 1] = edge
          break
        case EDGE.taken:
          this.#edgeTaken[at] = edge
          break
        case EDGE.otherwise:
          this.#edgeOtherwise[at] = edge
          break
        case EDGE.entry:
          this.#edgeEntry[at] = edge
          break
      }
    }
  }

  #label(at: number, label: number): number {
    return this.#shells?.label(at, label) ?? label
  }

  /** Whether some charge and check of the global counter are one: that takes a temporary local. */
  #fusesOnGlobal(): boolean {
    const { checks } = this.#plan
    return checks.blocks.includes(1) || checks.edges.includes(1)
  }

  #edgeCharge(edge: number): number {
    return edge === NONE ? 0 : (this.#plan.placement.edges[edge] as number)
  }

  #edgeCheck(edge: number): boolean {
    return edge !== NONE && this.#plan.checks.edges[edge] === 1
  }

  hasBefore(at: number): boolean {
    if (this.#edgeOtherwise[at] !== NONE || this.#edgeBefore[at] !== NONE) return true
    if (this.#shells?.opensAt(at) === true) return true
    return this.#dirty && this.#looksAtGlobal(at)
  }

  before(at: number): void {
    const { graph } = this.#plan
    const edge = this.#edgeBefore[at] as number
    if (edge !== NONE) {
      const to = graph.to.at(edge)
      const checks = this.#edgeCheck(edge)
      const isHead = to !== EXIT && graph.isPlainHead(to)
      const label = checks && isHead ? this.#label(at, this.#plan.body.first.at(at)) : undefined
      this.#spend(this.#edgeCharge(edge), checks, label, 0, isHead && this.#isShelled(to))
      if (to === EXIT) this.#leave()
    }
    if (this.#looksAtGlobal(at)) this.#store()
    const otherwise = this.#edgeOtherwise[at] as number
    if (this.#edgeCharge(otherwise) !== 0) {
      this.#code.op(OP.else)
      this.#spend(this.#edgeCharge(otherwise), false)
    }
    if (this.#shells?.opensAt(at) === true) this.#shells.open(at, this.#code)
  }

  hasAfter(at: number): boolean {
    if (at === -1 || this.#blockBehind[at + 1] !== NONE) return true
    if (this.#shells?.closesAt(at) === true) return true
    return this.#plan.cache?.lastUse[this.#plan.graph.blockOf.at(at)] === at
  }

  after(at: number): void {
    const plan = this.#plan
    const { cache } = plan
    if (at === -1) this.#enter()
    else if (cache !== undefined) this.#reload(at, cache)
    this.#closeShell(at)
    const block = this.#blockBehind[at + 1] as number
    if (block === NONE) return
    const edge = this.#edgeBehind[at + 1] as number
    const handles = plan.graph.roles.at(block) === ROLE.handler
    if (cache !== undefined && at !== -1) this.#dirty = cache.dirtyIn[block] === 1
    const checks = plan.checks.blocks[block] === 1
    const charge = plan.placement.blocks[block] as number
    if (handles && plan.restoresDepth) {
      this.#code.op(OP.localGet, this.#depthLocal).op(OP.globalSet, this.#runtime.depthGlobal)
    }
    const way = this.#edgeCharge(edge)
    const head = plan.graph.isPlainHead(block)
    if (!checks) {
      this.#spend(way + charge, false)
    } else if (plan.placement.checksFirst) {
      this.#spend(way, true, head ? 0 : undefined, 0, this.#isShelled(block))
      this.#spend(charge, false)
    } else {
      this.#spend(way + charge, true, head ? 0 : undefined, charge, this.#isShelled(block))
    }
  }

  replace(at: number): boolean {
    const { body, mapFunction } = this.#plan
    const opcode = body.opcodes.at(at)
    const first = body.first.at(at)
    if (opcode === OP.call || opcode === OP.returnCall || opcode === OP.refFunc) {
      this.#code.op(opcode, mapFunction(first))
      return true
    }
    if (opcode === OP.brIf) {
      const edge = this.#edgeTaken[at] as number
      if (this.#edgeCharge(edge) === 0 && !this.#edgeCheck(edge)) return this.#rewriteBranch(at)
      const dirty = this.#dirty
      const label = this.#label(at, first) + 1
      const to = this.#plan.graph.to.at(edge)
      this.#code.if()
      this.#spend(this.#edgeCharge(edge), this.#edgeCheck(edge), label, 0, to !== EXIT && this.#isShelled(to))
      this.#code.op(OP.br, label).op(OP.end)
      this.#dirty = dirty
      return true
    }
    if (opcode === OP.brTable) return this.#rewriteTable(at)
    if (opcode === OP.br || opcode === OP.brOnNull || opcode === OP.brOnNonNull)
      return this.#rewriteBranch(at)
    const helper = this.#plan.bulkFunction(at)
    if (helper === undefined) return false
    this.#code.op(OP.call, helper)
    return true
  }

  #closeShell(at: number): void {
    const shells = this.#shells
    if (shells === undefined || !shells.closesAt(at)) return
    const { placement, checks } = this.#plan
    const head = this.#blockBehind[shells.loopOf(at) + 1] as number
    const charged = checks.blocks[head] === 1 && !placement.checksFirst
    shells.close(this.#code, () => {
      this.#refill()
      if (charged) this.#giveBack(placement.blocks[head] as number)
    })
  }

  #isShelled(block: number): boolean {
    return this.#shells?.opensAt(this.#plan.graph.starts.at(block)) === true
  }

  /** Writes a branch with the label that it has between shells. */
  #rewriteBranch(at: number): boolean {
    if (this.#shells === undefined) return false
    const { opcodes, first } = this.#plan.body
    this.#code.op(opcodes.at(at), this.#label(at, first.at(at)))
    return true
  }

  /**
   * Writes a `br_table` with the labels that it has between shells. If entries that lead to the head of a loop
   * are charged, a block is put around it that they leave to be charged behind it.
   */
  #rewriteTable(at: number): boolean {
    const { body, graph } = this.#plan
    const edge = this.#edgeEntry[at] as number
    const charge = this.#edgeCharge(edge)
    if (charge === 0 && this.#shells === undefined) return false
    const code = this.#code
    const first = body.first.at(at)
    const count = body.second.at(at)
    const charged = charge === 0 ? NONE : (graph.entryLabels.get(edge) as number)
    if (charge !== 0) {
      code.op(OP.localSet, this.#selectorLocal).open(OP.block).op(OP.localGet, this.#selectorLocal)
    }
    code.op(OP.brTable, count - 1)
    for (let entry = 0; entry < count; entry++) {
      const label = body.pool.at(first + entry)
      if (charge === 0) code.out.u32(this.#label(at, label))
      else code.out.u32(label === charged ? 0 : this.#label(at, label) + 1)
    }
    if (charge === 0) return true
    const dirty = this.#dirty
    code.op(OP.end)
    this.#spend(charge, false)
    code.op(OP.br, this.#label(at, charged))
    this.#dirty = dirty
    return true
  }

  #looksAtGlobal(at: number): boolean {
    const { body, graph } = this.#plan
    return at < body.length && graph.blockOf.at(at) !== NONE && usesGlobalCounter(body.opcodes.at(at))
  }

  /** The function's own beginning: depth, then the cached counter. */
  #enter(): void {
    const plan = this.#plan
    const { depthGlobal, deepFunction, fuelGlobal } = this.#runtime
    const code = this.#code
    if (plan.depthWeight > 0) {
      code.op(OP.globalGet, depthGlobal).i32(plan.depthWeight).op(OP.i32Sub)
      code.op(OP.localTee, this.#depthLocal).op(OP.globalSet, depthGlobal)
      code.op(OP.localGet, this.#depthLocal).i32(0).op(OP.i32LtS)
      code.if().op(OP.call, deepFunction).op(OP.end)
    } else if (plan.restoresDepth) {
      code.op(OP.globalGet, depthGlobal).op(OP.localSet, this.#depthLocal)
    }
    if (plan.cache?.liveIn[0] === 1) {
      code.op(OP.globalGet, fuelGlobal).op(OP.localSet, this.#counterLocal)
    }
  }

  /** Right before an exit. */
  #leave(): void {
    this.#store()
    const { depthWeight } = this.#plan
    if (depthWeight === 0) return
    // Callees gave back what they took: no local has to hold the value of the entry all the while.
    const { depthGlobal } = this.#runtime
    this.#code.op(OP.globalGet, depthGlobal).i32(depthWeight).op(OP.i32Add).op(OP.globalSet, depthGlobal)
  }

  #store(): void {
    if (!this.#dirty) return
    this.#code.op(OP.localGet, this.#counterLocal).op(OP.globalSet, this.#runtime.fuelGlobal)
    this.#dirty = false
  }

  #reload(at: number, cache: CounterCache): void {
    const block = this.#plan.graph.blockOf.at(at)
    if (block === NONE || cache.lastUse[block] !== at || cache.liveOut[block] === 0) return
    this.#code.op(OP.globalGet, this.#runtime.fuelGlobal).op(OP.localSet, this.#counterLocal)
  }

  /**
   * Charges and checks, in this order, what there is to charge and check.
   *
   * @param head label of the head of the loop that is checked: to go there is to go on.
   * @param again what will be charged again there.
   */
  #spend(charge: number, check: boolean, head?: number, again = 0, shelled = false): void {
    if (charge !== 0) this.#charges++
    if (check) this.#checks++
    if (this.#plan.cache === undefined) this.#spendGlobal(charge, check)
    else this.#spendLocal(charge, check)
    if (!check) return
    this.#code.i64(0).op(OP.i64LtS)
    if (head !== undefined && shelled) {
      this.#code.op(OP.brIf, head + 1)
      return
    }
    this.#code.if()
    this.#refill()
    if (head !== undefined) {
      this.#giveBack(again)
      this.#code.op(OP.br, head + 1)
    }
    this.#code.op(OP.end)
  }

  #refill(): void {
    const { refillFunction, refillCachedFunction } = this.#runtime
    const code = this.#code
    if (this.#plan.cache === undefined) {
      code.op(OP.call, refillFunction)
      return
    }
    code.op(OP.localGet, this.#counterLocal).op(OP.call, refillCachedFunction)
    code.op(OP.localSet, this.#counterLocal)
  }

  #giveBack(charge: number): void {
    if (charge === 0) return
    const { fuelGlobal } = this.#runtime
    const cached = this.#plan.cache !== undefined
    const counter = cached ? this.#counterLocal : fuelGlobal
    const code = this.#code
    code
      .op(cached ? OP.localGet : OP.globalGet, counter)
      .i64(charge)
      .op(OP.i64Add)
    code.op(cached ? OP.localSet : OP.globalSet, counter)
  }

  /** Charges the cached counter; leaves it on the stack if it is to be checked. */
  #spendLocal(charge: number, check: boolean): void {
    const code = this.#code
    const counter = this.#counterLocal
    if (charge !== 0) {
      this.#dirty = true
      code
        .op(OP.localGet, counter)
        .i64(charge)
        .op(OP.i64Sub)
        .op(check ? OP.localTee : OP.localSet, counter)
    } else if (check) {
      code.op(OP.localGet, counter)
    }
  }

  /** Charges the global; leaves it on the stack if it is to be checked. */
  #spendGlobal(charge: number, check: boolean): void {
    const { fuelGlobal } = this.#runtime
    const code = this.#code
    if (charge === 0) {
      if (check) code.op(OP.globalGet, fuelGlobal)
      return
    }
    code.op(OP.globalGet, fuelGlobal).i64(charge).op(OP.i64Sub)
    if (check) code.op(OP.localTee, this.#counterLocal)
    code.op(OP.globalSet, fuelGlobal)
    if (check) code.op(OP.localGet, this.#counterLocal)
  }
}
