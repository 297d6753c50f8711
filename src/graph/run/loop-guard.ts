/**
 * The loop guard of a run: a fold over its events, so that it stands where it was in whatever process the run goes on.
 *
 * It looks at calls and programs of nodes that may be at work again and again: those in an `each` or a `loop`. Other
 * nodes are as many as the plan has, each with as many attempts as it says. What programs call has the guard of the gate.
 *
 * Invariant: a run that it stopped, and that somebody lets go on, begins with nothing: that person has seen it.
 */
import { fingerprint } from '../../capability/fingerprint.ts'
import {
  type LoopFound,
  LoopGuard,
  type LoopGuardMemory,
  type LoopStep,
} from '../../capability/loop-guard.ts'
import { isEffect } from '../plan/node-kinds.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { isRepeated, placeOf } from '../plan/rights-at.ts'
import type { NodeState } from './node-state.ts'
import type { Failure, NodeEvent, ValueRef } from './run-event.ts'

export interface RunLoopsMemory {
  readonly guard: LoopGuardMemory
  readonly begun: readonly (readonly [path: string, key: string, name: string])[]
}

export class RunLoops {
  readonly #guard: LoopGuard
  /** Steps that are under way, by the paths of their nodes. */
  readonly #begun = new Map<string, LoopStep>()

  constructor({ guard }: Plan) {
    this.#guard = new LoopGuard(guard)
  }

  /** Why a node is not to begin; undefined where it may. */
  check(path: string, node: PlanNode, input: ValueRef): LoopFound | undefined {
    const step = stepOf(path, node, input)
    return step && this.#guard.check(step)
  }

  note({ path, node, input }: NodeState, event: NodeEvent): void {
    switch (event.type) {
      case 'node_started': {
        const step = stepOf(path, node, event.input ?? input)
        if (step === undefined) return
        this.#begun.set(path, step)
        this.#guard.begin(step)
        return
      }
      case 'node_completed':
        this.#end(path, (step) => {
          const value = printOf(event.output)
          if (value === undefined) this.#guard.drop(step)
          else this.#guard.end(step, { ok: true, value })
        })
        return
      case 'node_failed':
      case 'node_retrying':
      case 'node_recovered':
        this.#end(path, (step) => this.#guard.end(step, { ok: false, error: textOf(event.error) }))
        return
      case 'node_cancelled':
        this.#end(path, (step) => this.#guard.drop(step))
        return
      default:
    }
  }

  /** All of it: what it knows, and the steps that are under way. */
  get memory(): RunLoopsMemory {
    const begun = [...this.#begun].map(([path, { key, name }]) => [path, key, name] as const)
    return { guard: this.#guard.memory, begun }
  }

  recall({ guard, begun }: RunLoopsMemory): void {
    this.#guard.recall(guard)
    this.#begun.clear()
    for (const [path, key, name] of begun) this.#begun.set(path, { key, name })
  }

  /** Somebody lets it go on. */
  clear(): void {
    this.#guard.clear()
    this.#begun.clear()
  }

  #end(path: string, end: (step: LoopStep) => void): void {
    const step = this.#begun.get(path)
    if (step === undefined) return
    this.#begun.delete(path)
    end(step)
  }
}

function stepOf(path: string, node: PlanNode, input: ValueRef): LoopStep | undefined {
  if (!isEffect(node) || !isRepeated(path)) return undefined
  const print = printOf(input)
  if (print === undefined) return undefined
  const place = placeOf(path)
  return { key: `${place} ${print}`, name: node.kind === 'call' ? node.capability : place }
}

function printOf(ref: ValueRef): string | undefined {
  return 'digest' in ref ? ref.digest : fingerprint(ref.value)
}

function textOf({ code, message }: Failure): string {
  return `${code}: ${message}`.slice(0, 200)
}
