/**
 * All that is code in a plan: its programs, and the expressions of its templates, each with its place.
 */
import { isEffect } from './node-kinds.ts'
import type { Plan, PlanNode, Program, Scope } from './plan.ts'
import { pointerTo } from './plan-problem.ts'
import { templatesOf } from './scope-edges.ts'
import { visitTemplate } from './template.ts'

export interface PlanCode {
  readonly programs: readonly { readonly at: string; readonly program: Program }[]
  readonly expressions: readonly Expression[]
}

export interface Expression {
  readonly at: string
  readonly source: string
  /** Of the values that it may use. */
  readonly names: readonly string[]
}

/** The code of a checked plan, in the order in which it stands there. */
export function codeOf(plan: Plan): PlanCode {
  const programs: { at: string; program: Program }[] = []
  const expressions: Expression[] = []
  const look = (template: unknown, at: string): void =>
    visitTemplate(template, at, {
      expression: (source, place, names) => expressions.push({ at: place, source, names }),
    })
  visitNodes(plan, '', (node, at) => {
    if (node.kind === 'program') programs.push({ at, program: node })
    for (const { at: place, template } of templatesOf(node)) look(template, at + place)
    if (node.kind === 'loop') look(node.until, `${at}/until`)
    if (!isEffect(node)) return
    for (const [i, { value }] of (node.fallback ?? []).entries()) look(value, `${at}/fallback/${i}/value`)
    const { compensate } = node
    if (compensate?.kind === 'program') programs.push({ at: `${at}/compensate`, program: compensate })
    look(compensate?.input, `${at}/compensate/input`)
  })
  visitScopes(plan, '', (scope, at) => look(scope.output, `${at}/output`))
  return { programs, expressions }
}

/** Visits the nodes of a scope, and of the scopes inside of them, each with its place. */
export function visitNodes(scope: Scope, at: string, visit: (node: PlanNode, at: string) => void): void {
  visitScopes(scope, at, ({ nodes }, place) => {
    for (const [id, node] of Object.entries(nodes)) visit(node, pointerTo(`${place}/nodes`, id))
  })
}

function visitScopes(scope: Scope, at: string, visit: (scope: Scope, at: string) => void): void {
  visit(scope, at)
  for (const [id, node] of Object.entries(scope.nodes)) {
    const place = pointerTo(`${at}/nodes`, id)
    if (node.kind === 'each' || node.kind === 'loop') visitScopes(node.do, `${place}/do`, visit)
    else if (node.kind === 'plan') visitScopes(node.plan, `${place}/plan`, visit)
  }
}
