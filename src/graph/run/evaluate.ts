/**
 * What templates give: references followed, expressions evaluated.
 *
 * Invariants
 * 1. What a template gives shares nothing with what it refers to.
 * 2. Only own members of data are followed; a pointer that leads nowhere gives null, and so does a node that was skipped.
 */
import { CaissonError } from '../../base/errors.ts'
import { isObject } from '../plan/shape.ts'
import { parseReference } from '../plan/template.ts'
import type { ScopeState } from './node-state.ts'
import type { Failure, ValueRef } from './run-event.ts'
import type { RunState } from './run-state.ts'
import type { RunValues } from './run-values.ts'
import type { WithSignal } from './work-stop.ts'

/** Evaluates an expression over named values, in an isolate that can do nothing else. */
export type EvaluateExpression = (
  source: string,
  values: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<Evaluated>

export type Evaluated =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Failure }

/** An expression that threw, or used up what it may. */
export class ExpressionFailed extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** An expression that was stopped with the work that it is a part of: that says nothing of it, and it is evaluated again. */
export class EvaluationStopped extends Error {}

/** What a template can name beside nodes, where that differs from its scope: `state` after a round, `output` of what is undone. */
export type Overrides = Readonly<Record<string, ValueRef>>

/** A value, and the names of what of it is meant. */
interface Source {
  readonly ref: ValueRef
  readonly members?: readonly (string | number)[]
}

const NULL: ValueRef = { value: null }

export class Evaluator {
  readonly #state: RunState
  readonly #values: RunValues
  readonly #expression: EvaluateExpression

  constructor(state: RunState, values: RunValues, expression: EvaluateExpression) {
    this.#state = state
    this.#values = values
    this.#expression = expression
  }

  /** @throws ExpressionFailed, EvaluationStopped, CaissonError of a value that cannot be read */
  async evaluate(
    template: unknown,
    scope: ScopeState,
    stop: WithSignal,
    overrides: Overrides = {},
  ): Promise<unknown> {
    if (Array.isArray(template)) {
      const elements: unknown[] = []
      for (const element of template) elements.push(await this.evaluate(element, scope, stop, overrides))
      return elements
    }
    if (!isObject(template)) return template
    if (Object.hasOwn(template, '$value')) return structuredClone(template.$value)
    if (Object.hasOwn(template, '$from')) return this.#follow(template.$from, scope, overrides)
    if (Object.hasOwn(template, '$eval')) {
      const values = await this.#members(template.with ?? {}, scope, stop, overrides)
      const evaluated = await this.#expression(String(template.$eval), values, stop.signal)
      if (evaluated.ok) return evaluated.value
      if (stop.signal.aborted) throw new EvaluationStopped('The expression was stopped.')
      throw new ExpressionFailed(evaluated.error)
    }
    return this.#members(template, scope, stop, overrides)
  }

  async #members(
    template: unknown,
    scope: ScopeState,
    stop: WithSignal,
    overrides: Overrides,
  ): Promise<Readonly<Record<string, unknown>>> {
    const members: [string, unknown][] = []
    for (const [key, value] of Object.entries(template as object))
      members.push([key, await this.evaluate(value, scope, stop, overrides)])
    return Object.fromEntries(members)
  }

  async #follow(text: unknown, scope: ScopeState, overrides: Overrides): Promise<unknown> {
    const reference = parseReference(text)
    if (typeof reference === 'string') throw new CaissonError('invalid_plan', `A reference ${reference}.`)
    const { source, pointer } = reference
    const found = this.#source(source, scope, overrides)
    if (found === undefined) return null
    const { ref, members = [] } = found
    return (await this.#values.load(ref, [...members, ...pointer])) ?? null
  }

  #source(name: string, scope: ScopeState, overrides: Overrides): Source | undefined {
    const override = Object.hasOwn(overrides, name) ? overrides[name] : undefined
    if (override !== undefined) return { ref: override }
    for (let at: ScopeState | undefined = scope; at !== undefined; at = at.owner?.scope) {
      if (Object.hasOwn(at.plan.scope.nodes, name)) {
        const ref = at.nodes.get(name)?.output
        return ref && { ref }
      }
      const own = this.#ownSource(name, at)
      if (own !== undefined) return own
      // A plan in a plan sees nothing of what is around it.
      if (at.owner?.node.kind === 'plan') break
    }
    return undefined
  }

  /** What a scope itself gives: undefined where it is one around it that does. */
  #ownSource(name: string, scope: ScopeState): Source | undefined {
    const { owner, index } = scope
    switch (name) {
      case 'input': {
        if (owner !== undefined && owner.node.kind !== 'plan') return undefined
        const ref = owner === undefined ? this.#state.input : owner.input
        return { ref: ref ?? NULL }
      }
      case 'item':
        // Only the item is copied: all of them together would cost the square of the list.
        return owner?.node.kind === 'each' && owner.input !== undefined
          ? { ref: owner.input, members: [index] }
          : undefined
      case 'index':
        return owner?.node.kind === 'each' || owner?.node.kind === 'loop'
          ? { ref: { value: index } }
          : undefined
      case 'state': {
        if (owner?.node.kind !== 'loop') return undefined
        const ref = owner.roundState ?? owner.input
        return { ref: ref ?? NULL }
      }
      default:
        return undefined
    }
  }
}
