/**
 * Notices that a guest, or a run of a plan, does the same again and again and gets nowhere.
 *
 * It knows steps by two texts: what was done (a capability and its arguments), and what came of it. It decides by the
 * order of steps alone, so that the same steps are stopped at the same place everywhere.
 *
 * Invariants
 * 1. Pure: no time, no chance. The same steps and answers give the same decision.
 * 2. Whatever is new counts as progress: another answer to the same call, or another call, is no repetition.
 * 3. What it holds is bounded; what was forgotten counts as new.
 * 4. Its state goes on in another process: what was close to being stopped is as close there.
 */

/** When it stops: each a whole number from 2 on. */
export interface LoopGuardRule {
  /** The same call, answered the same, so many times. Default 100. */
  readonly identicalCalls?: number
  /** The same failure of one capability, so many times without a success of it between. Default 50. */
  readonly identicalErrors?: number
  /** Two calls in turn, each answered as before, so many times. Default 40. */
  readonly alternations?: number
  /** So many calls, one after the other, none of which gave anything that was not there before. Default 300. */
  readonly withoutProgress?: number
}

export const DEFAULT_LOOP_GUARD: Required<LoopGuardRule> = {
  identicalCalls: 100,
  identicalErrors: 50,
  alternations: 40,
  withoutProgress: 300,
}

export const LOOP_THRESHOLDS = [
  'identicalCalls',
  'identicalErrors',
  'alternations',
  'withoutProgress',
] as const

/** The largest value of each threshold. */
export const LARGEST_LOOP_THRESHOLD = 1_000_000

export type LoopKind = 'identical_calls' | 'identical_errors' | 'alternating_calls' | 'no_progress'

/** Why the next step is not taken. */
export interface LoopFound {
  readonly kind: LoopKind
  /** How often it happened. */
  readonly count: number
  /** One sentence, for the guest and for people. */
  readonly message: string
}

/** A step, before it is taken. */
export interface LoopStep {
  /** Equal for equal steps, and for no others. */
  readonly key: string
  /** What is called, as people know it: failures are counted by it. */
  readonly name: string
}

/** What came of a step. */
export type LoopAnswer =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly error: string }

/** What it knows, as plain data: little, and nothing where nothing repeats itself. */
export interface LoopGuardState {
  /** Calls that were answered the same: key, answer, how often. */
  readonly calls?: readonly (readonly [key: string, answer: string, count: number])[]
  /** Failures by capability: name, failure, how often. */
  readonly errors?: readonly (readonly [name: string, error: string, count: number])[]
  /** The last steps with their answers, the oldest first. */
  readonly last?: readonly string[]
  /** Steps in turn so far, and steps without anything new. */
  readonly turns?: number
  readonly idle?: number
}

/** All of it, as plain data: whoever goes on from it decides as this one would. */
export interface LoopGuardMemory {
  readonly calls: readonly (readonly [key: string, answer: string, count: number, atWork: number])[]
  readonly errors: readonly (readonly [name: string, error: string, count: number])[]
  readonly seen: readonly string[]
  readonly last: readonly string[]
  readonly turns: number
  readonly idle: number
}

const MOST_CALLS = 1_024
const MOST_SEEN = 4_096
/** Of a state: those that happened most often. */
const MOST_TOLD = 8
/** Fewer repetitions are forgotten between two processes. */
const LEAST_TOLD = 3
const LAST_STEPS = 8

interface CallMemory {
  answer: string
  /** How often it was answered so, one time after the other. */
  count: number
  atWork: number
}

export class LoopGuard {
  readonly rule: Required<LoopGuardRule>
  /** The ones used last at the end. */
  readonly #calls = new Map<string, CallMemory>()
  readonly #errors = new Map<string, { readonly error: string; readonly count: number }>()
  /** Steps with their answers. */
  readonly #seen = new Set<string>()
  #last: string[] = []
  /** Steps that were like the last but one, and unlike the last. */
  #turns = 0
  #idle = 0

  constructor(rule: LoopGuardRule = {}) {
    this.rule = { ...DEFAULT_LOOP_GUARD, ...rule }
  }

  /** Why a step is not to be taken; undefined where it may be. */
  check({ key, name }: LoopStep): LoopFound | undefined {
    const { identicalCalls, identicalErrors, alternations, withoutProgress } = this.rule
    const call = this.#calls.get(key)
    const same = (call?.count ?? 0) + (call?.atWork ?? 0)
    if (same >= identicalCalls)
      return found(
        'identical_calls',
        same,
        `The same call of "${name}" was made ${same} times, and nothing new came of it.`,
      )
    const failed = this.#errors.get(name)
    if (failed !== undefined && failed.count >= identicalErrors)
      return found(
        'identical_errors',
        failed.count,
        `"${name}" failed ${failed.count} times in the same way, and never worked between.`,
      )
    const turns = Math.floor((this.#turns + 2) / 2)
    if (this.#turns > 0 && turns >= alternations && keyOf(this.#last.at(-2)) === key)
      return found(
        'alternating_calls',
        alternations,
        `Two calls, the next of which is "${name}", were made in turn ${alternations} times, and nothing new came of it.`,
      )
    if (this.#idle >= withoutProgress && call !== undefined)
      return found(
        'no_progress',
        this.#idle,
        `The last ${this.#idle} calls gave nothing that had not been there before; the next is "${name}".`,
      )
    return undefined
  }

  /** A step is taken. */
  begin({ key }: LoopStep): void {
    const call = this.#calls.get(key) ?? { answer: '', count: 0, atWork: 0 }
    call.atWork += 1
    this.#calls.delete(key)
    this.#calls.set(key, call)
    this.#forget()
  }

  /** A step that was not begun is known by its end alone. */
  end({ key, name }: LoopStep, given: LoopAnswer): void {
    const answer = given.ok ? given.value : `! ${given.error}`
    const call = this.#calls.get(key) ?? { answer: '', count: 0, atWork: 0 }
    this.#calls.delete(key)
    this.#calls.set(key, call)
    call.atWork = Math.max(0, call.atWork - 1)
    call.count = call.answer === answer ? call.count + 1 : 1
    call.answer = answer
    this.#forget()
    if (given.ok) this.#errors.delete(name)
    else {
      const before = this.#errors.get(name)
      this.#errors.set(name, {
        error: given.error,
        count: before?.error === given.error ? before.count + 1 : 1,
      })
    }
    this.#note(`${key}\n${answer}`)
  }

  /** A step that was begun came to no end of which anything is known. */
  drop({ key }: LoopStep): void {
    const call = this.#calls.get(key)
    if (call !== undefined) call.atWork = Math.max(0, call.atWork - 1)
  }

  /** Somebody looked, and lets it go on: what was is forgotten. */
  clear(): void {
    this.#calls.clear()
    this.#errors.clear()
    this.#seen.clear()
    this.#last = []
    this.#turns = 0
    this.#idle = 0
  }

  /** Undefined where nothing repeats itself. */
  snapshot(): LoopGuardState | undefined {
    const calls = most([...this.#calls].map(([key, { answer, count }]) => [key, answer, count] as const))
    const errors = most([...this.#errors].map(([name, { error, count }]) => [name, error, count] as const))
    const isIdle = this.#idle >= LEAST_TOLD || this.#turns >= LEAST_TOLD
    if (calls.length === 0 && errors.length === 0 && !isIdle) return undefined
    return {
      ...(calls.length > 0 && { calls }),
      ...(errors.length > 0 && { errors }),
      ...(isIdle && { last: this.#last, turns: this.#turns, idle: this.#idle }),
    }
  }

  restore({ calls = [], errors = [], last = [], turns = 0, idle = 0 }: LoopGuardState): void {
    this.clear()
    for (const [key, answer, count] of calls) this.#calls.set(key, { answer, count, atWork: 0 })
    for (const [name, error, count] of errors) this.#errors.set(name, { error, count })
    for (const step of last) this.#seen.add(step)
    this.#last = [...last]
    this.#turns = turns
    this.#idle = idle
  }

  get memory(): LoopGuardMemory {
    return {
      calls: [...this.#calls].map(([key, { answer, count, atWork }]) => [key, answer, count, atWork]),
      errors: [...this.#errors].map(([name, { error, count }]) => [name, error, count]),
      seen: [...this.#seen],
      last: [...this.#last],
      turns: this.#turns,
      idle: this.#idle,
    }
  }

  /** Goes on from what another one knew. */
  recall({ calls, errors, seen, last, turns, idle }: LoopGuardMemory): void {
    this.clear()
    for (const [key, answer, count, atWork] of calls) this.#calls.set(key, { answer, count, atWork })
    for (const [name, error, count] of errors) this.#errors.set(name, { error, count })
    for (const step of seen) this.#seen.add(step)
    this.#last = [...last]
    this.#turns = turns
    this.#idle = idle
  }

  #note(step: string): void {
    this.#idle = this.#seen.has(step) ? this.#idle + 1 : 0
    this.#seen.add(step)
    if (this.#seen.size > MOST_SEEN)
      for (const oldest of this.#seen) {
        this.#seen.delete(oldest)
        break
      }
    const inTurn = this.#last.at(-2) === step && this.#last.at(-1) !== step
    this.#turns = inTurn ? this.#turns + 1 : 0
    this.#last.push(step)
    if (this.#last.length > LAST_STEPS) this.#last.shift()
  }

  #forget(): void {
    for (const [key, { atWork }] of this.#calls) {
      if (this.#calls.size <= MOST_CALLS) return
      if (atWork === 0) this.#calls.delete(key)
    }
  }
}

/** Whether data is what `snapshot` gives. */
export function isLoopGuardState(value: unknown): value is LoopGuardState {
  if (typeof value !== 'object' || value === null) return false
  const { calls = [], errors = [], last = [], turns = 0, idle = 0 } = value as Record<string, unknown>
  const isCounted = (one: unknown): boolean =>
    Array.isArray(one) && one.length === 3 && isText(one[0]) && isText(one[1]) && isCount(one[2])
  return (
    Array.isArray(calls) &&
    calls.every(isCounted) &&
    Array.isArray(errors) &&
    errors.every(isCounted) &&
    Array.isArray(last) &&
    last.every(isText) &&
    isCount(turns) &&
    isCount(idle)
  )
}

/** What is wrong with thresholds; undefined where nothing is. */
export function loopRuleProblem(rule: unknown): string | undefined {
  if (typeof rule !== 'object' || rule === null) return 'must be an object with thresholds'
  for (const [name, value] of Object.entries(rule)) {
    if (!Object.hasOwn(DEFAULT_LOOP_GUARD, name))
      return `has "${name.slice(0, 40)}", which is none of ${Object.keys(DEFAULT_LOOP_GUARD).join(', ')}`
    if (!Number.isInteger(value) || (value as number) < 2 || (value as number) > LARGEST_LOOP_THRESHOLD)
      return `must have whole numbers from 2 to ${LARGEST_LOOP_THRESHOLD}, and ${name} is ${String(value).slice(0, 40)}`
  }
  return undefined
}

function most<T extends readonly [string, string, number]>(counted: readonly T[]): readonly T[] {
  return counted
    .filter(([, , count]) => count >= LEAST_TOLD)
    .sort((a, b) => b[2] - a[2])
    .slice(0, MOST_TOLD)
}

function found(kind: LoopKind, count: number, message: string): LoopFound {
  return { kind, count, message }
}

/** Of a step with its answer. */
function keyOf(step: string | undefined): string | undefined {
  return step?.slice(0, step.indexOf('\n'))
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= 1_000
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}
