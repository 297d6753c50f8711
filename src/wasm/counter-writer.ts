/**
 * Writes charges and checks of one function, on the global counter or on a copy in a local.
 *
 * 1. A check at the head of a loop, or on a way back to it, does not fall through after a refill: it branches to
 *    the head, where the check passes. So the call lies behind the loop in the compiler's order, and no register
 *    of the loop is spilled for it. In QuickJS' interpreter that is the difference between 1.37 and 1.13 times
 *    the time of the plain module (V8 11.3). Loops with a shell go further: `loop-shell.ts`.
 * 2. What the head charged before its check is given back before it is entered again.
 */
import type { CodeWriter } from './code-writer.ts'
import type { MeterRuntime } from './meter-runtime.ts'
import { OP } from './opcode-table.ts'

/** The head of a loop, as a check on the way to it or at it sees it. */
export interface CheckedHead {
  /** Its label: to go there is to go on. */
  readonly label: number
  /** What will be charged again there, in fuel. */
  readonly again: number
  /** Whether the loop has a shell, which refills and gives back. */
  readonly shelled: boolean
}

/** Writes to the counter. */
export class CounterWriter {
  readonly #code: CodeWriter
  readonly #runtime: MeterRuntime
  readonly #local: number
  readonly #cached: boolean
  /** Whether the local copy may differ from the global at the current point. */
  dirty = false
  /** Sites written so far. */
  charges = 0
  checks = 0

  /** @param local an i64 local: the copy if the counter is cached, otherwise a temporary for checks. */
  constructor(code: CodeWriter, runtime: MeterRuntime, local: number, cached: boolean) {
    this.#code = code
    this.#runtime = runtime
    this.#local = local
    this.#cached = cached
  }

  /** Charges so much fuel. */
  charge(fuel: number): void {
    this.#spend(fuel, false)
  }

  /** Charges so much fuel, then checks. */
  check(fuel: number, head?: CheckedHead): void {
    this.#spend(fuel, true)
    const code = this.#code
    code.i64(0).op(OP.i64LtS)
    if (head?.shelled === true) {
      code.op(OP.brIf, head.label + 1)
      return
    }
    code.if()
    this.refill()
    if (head !== undefined) {
      this.giveBack(head.again)
      code.op(OP.br, head.label + 1)
    }
    code.op(OP.end)
  }

  /** Asks for more fuel. */
  refill(): void {
    const { refillFunction, refillCachedFunction } = this.#runtime
    if (!this.#cached) {
      this.#code.op(OP.call, refillFunction)
      return
    }
    this.#code.op(OP.localGet, this.#local).op(OP.call, refillCachedFunction).op(OP.localSet, this.#local)
  }

  /** Takes back a charge. */
  giveBack(fuel: number): void {
    if (fuel === 0) return
    const { fuelGlobal } = this.#runtime
    if (this.#cached)
      this.#code.op(OP.localGet, this.#local).i64(fuel).op(OP.i64Add).op(OP.localSet, this.#local)
    else this.#code.op(OP.globalGet, fuelGlobal).i64(fuel).op(OP.i64Add).op(OP.globalSet, fuelGlobal)
  }

  /** Brings the global up to date. */
  store(): void {
    if (!this.dirty) return
    this.#code.op(OP.localGet, this.#local).op(OP.globalSet, this.#runtime.fuelGlobal)
    this.dirty = false
  }

  /** Brings the local up to date. */
  load(): void {
    this.#code.op(OP.globalGet, this.#runtime.fuelGlobal).op(OP.localSet, this.#local)
  }

  /** Charges, and leaves the counter on the stack if it is to be checked. */
  #spend(fuel: number, check: boolean): void {
    if (fuel !== 0) this.charges++
    if (check) this.checks++
    if (this.#cached) this.#spendLocal(fuel, check)
    else this.#spendGlobal(fuel, check)
  }

  #spendLocal(fuel: number, check: boolean): void {
    const local = this.#local
    if (fuel === 0) {
      if (check) this.#code.op(OP.localGet, local)
      return
    }
    this.dirty = true
    this.#code.op(OP.localGet, local).i64(fuel).op(OP.i64Sub)
    this.#code.op(check ? OP.localTee : OP.localSet, local)
  }

  #spendGlobal(fuel: number, check: boolean): void {
    const { fuelGlobal } = this.#runtime
    const code = this.#code
    if (fuel === 0) {
      if (check) code.op(OP.globalGet, fuelGlobal)
      return
    }
    code.op(OP.globalGet, fuelGlobal).i64(fuel).op(OP.i64Sub)
    if (check) code.op(OP.localTee, this.#local)
    code.op(OP.globalSet, fuelGlobal)
    if (check) code.op(OP.localGet, this.#local)
  }
}
