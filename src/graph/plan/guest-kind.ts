/** What the core of plans knows of a kind of node that is done by a guest. The kinds themselves: `node-kinds.ts`. */
import type { Template } from './plan.ts'
import type { PlanProblems } from './plan-problem.ts'
import type { Shape } from './shape.ts'

/** Shapes that kinds share with the rest of a plan. */
export interface KindShapes {
  readonly template: Shape
  readonly grants: Shape
  readonly limits: Shape
}

/** A kind whose nodes are done by a guest. */
export interface GuestKind<N> {
  readonly description: string
  /** Beside what all nodes with an effect may say. */
  readonly members: (shapes: KindShapes) => Readonly<Record<string, Shape>>
  readonly required: readonly string[]
  /** What the form does not say. */
  readonly check: (node: N, at: string, problems: PlanProblems) => void
  /** Members that hold templates, beside `when`. */
  readonly templates: readonly (keyof N & string)[]
  /** One template of all of them: what is evaluated when the node starts. */
  readonly inputOf: (node: N) => Template
  /** What it does, in a few words. */
  readonly words: (node: N) => string
  /** Members that people are shown beside. */
  readonly shown: readonly (keyof N & string)[]
  /** All that says what it does, but for its input. */
  readonly identityOf: (node: N) => Template
}
