/**
 * A document as a tree of plain JSON data, whatever it was given as.
 *
 * Invariants
 * 1. What is small as a shared graph and large as a tree counts as the tree that it is read as.
 * 2. Members that are undefined are left out, as JSON does; everything else that JSON cannot say is a problem.
 * 3. The tree is frozen, and shares nothing with what was given.
 */
import { copyValue } from '../../values/copy-value.ts'
import type { ValueLimits } from '../../values/limits.ts'
import { setProperty } from '../../values/object-parts.ts'
import { type PlanProblems, pointerTo } from './plan-problem.ts'

/** Of one plan, its sources included. */
export const PLAN_LIMITS: ValueLimits = { bytes: 16 * 1024 * 1024, nodes: 200_000, depth: 128 }

/**
 * Copies a document.
 * @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep` for what cannot be copied at all
 */
export function plainTree(document: unknown, problems: PlanProblems): unknown {
  return treeOfData(copyValue(document, PLAN_LIMITS, 'plan'), problems)
}

/** As `plainTree`, of what was copied or decoded: data that runs nothing. */
export function treeOfData(data: unknown, problems: PlanProblems): unknown {
  return new Tree(problems).copy(data, '', PLAN_LIMITS.depth)
}

class Tree {
  readonly #problems: PlanProblems
  #nodes = 0

  constructor(problems: PlanProblems) {
    this.#problems = problems
  }

  copy(value: unknown, at: string, depth: number): unknown {
    this.#nodes += 1
    if (this.#nodes > PLAN_LIMITS.nodes) {
      if (this.#nodes === PLAN_LIMITS.nodes + 1)
        this.#problems.add(at, `the plan holds more than ${PLAN_LIMITS.nodes} values`)
      return null
    }
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        if (Number.isFinite(value)) return Object.is(value, -0) ? 0 : value
        return this.#refuse(at, `is ${value}, which JSON cannot say`)
      case 'object':
        return value === null ? null : this.#container(value, at, depth)
      default:
        return this.#refuse(at, `is of type ${typeof value}, which JSON cannot say`)
    }
  }

  #container(value: object, at: string, depth: number): unknown {
    // A cycle is a tree without end.
    if (depth === 0) return this.#refuse(at, `is nested more than ${PLAN_LIMITS.depth} deep, or in itself`)
    if (Array.isArray(value)) {
      // By index: a hole is no JSON either.
      const elements = Array.from(value as readonly unknown[], (element, i) =>
        this.copy(element, pointerTo(at, i), depth - 1),
      )
      return Object.freeze(elements)
    }
    if (Object.getPrototypeOf(value) !== Object.prototype)
      return this.#refuse(at, 'is no plain object, which is all that JSON can say')
    const members = {}
    for (const [name, member] of Object.entries(value))
      if (member !== undefined) setProperty(members, name, this.copy(member, pointerTo(at, name), depth - 1))
    return Object.freeze(members)
  }

  #refuse(at: string, problem: string): null {
    this.#problems.add(at, problem)
    return null
  }
}
