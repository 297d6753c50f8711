/**
 * A plan: what a run may do, in which order, with which authority, how often and at what cost. A document of plain
 * JSON data, so that a person can read it, a model can write it, and its digest means exactly one plan.
 *
 * Nodes do the work. What flows between them are references to outputs, which also are the edges: a node starts when
 * everything that it refers to, or names in `after`, has ended. `each`, `loop` and `plan` hold nodes of their own.
 */

import type { LoopGuardRule } from '../../capability/loop-guard.ts'

/** Names the format, and its version. */
export const PLAN_FORMAT = 'plan/1'

export interface Plan extends Scope {
  readonly format: typeof PLAN_FORMAT
  /** 1 to 64 of `a-z 0-9 -`, beginning with a letter. */
  readonly name: string
  /** Of the plan, for people: the digest is what counts. */
  readonly version: string
  readonly description?: string
  /** All that any node may be granted: a plan has no other authority. */
  readonly grants?: readonly PlanGrant[]
  /** What the whole run may use up. */
  readonly budget?: Budget
  /** When a run, and each of its programs, is stopped because it repeats itself. Only of the outermost plan. */
  readonly guard?: LoopGuardRule
}

/** Nodes that end together, with what comes out. */
export interface Scope {
  /** By their ids: 1 to 64 of `A-Z a-z 0-9 -`, beginning with a small letter. At least one. */
  readonly nodes: Readonly<Record<string, PlanNode>>
  /** Default: nothing comes out. */
  readonly output?: Template
}

export type PlanNode =
  | ProgramNode
  | ModuleNode
  | ComponentNode
  | CallNode
  | ApprovalNode
  | ChoiceNode
  | EachNode
  | LoopNode
  | SubPlanNode
  | WaitNode

/** What every node may say. */
interface NodeBase {
  /** A few words for people. */
  readonly title?: string
  /** Nodes of the same scope that end before this one starts, beside those that it refers to. */
  readonly after?: readonly string[]
  /**
   * What becomes of it when a node before it was skipped. `all`, the default: it is skipped too. `any`: it starts as
   * long as one of them completed; references to the others give null.
   */
  readonly join?: 'all' | 'any'
  /** It is skipped unless this gives true. */
  readonly when?: Template
  /** What it may use up, at most what the scope around it has left. */
  readonly budget?: Budget
}

/** What nodes that do something in the world may say. */
export interface EffectBase extends NodeBase {
  /** Of one attempt, milliseconds of active time. */
  readonly timeoutMs?: number
  /** Default: one attempt. */
  readonly retry?: Retry
  /** What stands in for its output when it failed. The first that fits counts. */
  readonly fallback?: readonly Fallback[]
  /** Undoes it, should the run fail or be cancelled after it completed. */
  readonly compensate?: Compensation
}

/** A program in an isolate of its own. Its value is the output. */
export interface ProgramNode extends EffectBase, Program {
  readonly kind: 'program'
  readonly grants?: readonly PlanGrant[]
  readonly limits?: Readonly<Record<string, number>>
}

/** A source, and what it is given. */
export interface Program {
  /** Its text. Exactly one of `source` and `file`. */
  readonly source?: string
  /** Path of it, relative to the plan. Read before the plan is proposed: what is approved holds the text. */
  readonly file?: string
  /** Default: what the text looks like. What is read from a file is what the name of the file says. */
  readonly language?: 'js' | 'ts'
  /** What it imports: texts by their paths, from the folder of the program. */
  readonly modules?: Readonly<Record<string, string>>
  /** The global `input`. */
  readonly input?: Template
}

/** Where the WebAssembly of a node is: exactly one of both. */
export interface WasmSource {
  /** Digest of its bytes, which are given when the plan is proposed, and kept with the run. */
  readonly wasm?: string
  /** Path of it, relative to the plan. Read before the plan is proposed: what is approved names the digest. */
  readonly file?: string
}

/** What is made of bytes that a guest wrote: UTF-8 text, the value of JSON, or the bytes. */
export type BytesForm = 'text' | 'json' | 'bytes'

/**
 * A WASI preview-1 command in a world of its own: it has what is given here, a logical clock and seeded randomness. The
 * output is `{ exitCode, stdout, stderr, files }`.
 */
export interface ModuleNode extends EffectBase, WasmSource, NodeWasi {
  readonly kind: 'module'
  /** Of a reactor: the calls that are run, in order. Left out, it is a command. */
  readonly entry?: readonly ExportCall[]
  /** Calls before, in a world that is the same for all runs: done once where many nodes begin alike. */
  readonly startUp?: readonly ExportCall[]
  /** `trap`: imports that nobody grants end it where it calls them. Default `refuse`: it is not run. */
  readonly missing?: 'refuse' | 'trap'
  /** What it may call, as imports `namespace` `name`. */
  readonly grants?: readonly PlanGrant[]
  readonly limits?: Readonly<Record<string, number>>
}

/** A call of an export of a module that takes texts and lists of texts by the canonical ABI. */
export type ExportCall = {
  readonly name: string
  readonly args: readonly (string | readonly string[])[]
}

/**
 * One call of an export of a component, which finds a logical clock and seeded randomness of WASI, and of the rest what
 * `wasi` says. What it returns is the output; of a `result` the value of `ok`, while `err` fails the node. With `wasi` the
 * output is `{ exitCode, value, stdout, stderr, files }`.
 */
export interface ComponentNode extends EffectBase, WasmSource {
  readonly kind: 'component'
  /** `run`, or `example:shop/prices@1.0.0#lookup` for a function of an interface. */
  readonly export: string
  readonly args?: readonly Template[]
  /** What is left out is not there. */
  readonly wasi?: NodeWasi
  /** What it may call, as imports of the interfaces that are named so. */
  readonly grants?: readonly PlanGrant[]
  readonly limits?: Readonly<Record<string, number>>
}

/** What a guest finds of WASI beside time and randomness, and what of it is in the output. */
export interface NodeWasi {
  /** Arguments: of a module those after the name of the program, of a component that first. What is no text is given as JSON. */
  readonly args?: readonly Template[]
  readonly env?: Readonly<Record<string, Template>>
  /** All of standard input: text, bytes, or another value as JSON. Default: at its end. */
  readonly stdin?: Template
  /** Files that it finds, by their paths in its directory: text, bytes, or another value as JSON. */
  readonly files?: Readonly<Record<string, Template>>
  /** Where it finds its directory, which is in memory. Default `/`; without it, `files` and `writes` a component has none. */
  readonly directory?: string
  /** Files of its directory that are in the output, by their paths. One that is not there fails the node. */
  readonly writes?: Readonly<Record<string, BytesForm>>
  /** What the output has of standard output. Default `text`. */
  readonly stdout?: BytesForm
  /** `zero`, the default: any other code fails the node. `any`: the output says which it was. */
  readonly exit?: 'zero' | 'any'
}

/** One call of a capability. Its result is the output. */
export interface CallNode extends EffectBase {
  readonly kind: 'call'
  readonly capability: string
  readonly input?: Template
}

/** A question to a person. The output is `{ approved, by, comment, value }`. */
export interface ApprovalNode extends NodeBase {
  readonly kind: 'approval'
  readonly question: string
  /** What is shown, and what the decision is bound to. The person may change it: `value` of the output is what was decided on. */
  readonly show?: Template
  /** Milliseconds after which nobody may decide any more, and the node fails. Default: never. */
  readonly expiresMs?: number
  /** `fail`, the default: a rejection fails the node. `continue`: it completes with `approved: false`. */
  readonly rejected?: 'fail' | 'continue'
}

/** Which of the nodes after it start. The output is the list of those that were chosen. */
export interface ChoiceNode extends NodeBase {
  readonly kind: 'choice'
  /** The first whose `when` gives true is taken. */
  readonly cases: readonly { readonly when: Template; readonly take: readonly string[] }[]
  /** Taken when none is. Default: none of the nodes starts. */
  readonly otherwise?: readonly string[]
}

/** The same nodes for every item of a list. The output is the list of their outputs, in the order of the items. */
export interface EachNode extends NodeBase {
  readonly kind: 'each'
  readonly over: Template
  /** A longer list fails the node. 1 to 10,000. */
  readonly most: number
  /** Items at work at once. Default 4. */
  readonly concurrency?: number
  readonly do: Scope
}

/** The same nodes again and again. The output is the last state. */
export interface LoopNode extends NodeBase {
  readonly kind: 'loop'
  /** What the first round starts with. */
  readonly state?: Template
  /** Its output is the state of the next round. */
  readonly do: Scope
  /** Asked after each round, over the new state. */
  readonly until: Template
  /** Rounds, after which the node fails. 1 to 10,000. */
  readonly most: number
}

/** A plan in a plan, with authority of its own that is part of that around it. */
export interface SubPlanNode extends NodeBase {
  readonly kind: 'plan'
  readonly plan: Plan
  readonly input?: Template
}

/** Until a time, or an event from outside, whose value is the output. Exactly one of `forMs`, `until` and `event`. */
export interface WaitNode extends NodeBase {
  readonly kind: 'wait'
  readonly forMs?: number
  /** Gives an ISO date or milliseconds since the epoch. */
  readonly until?: Template
  /** Its name. */
  readonly event?: string
  /** Milliseconds after which an event has not come, and the node fails. Default: never. */
  readonly expiresMs?: number
}

/**
 * JSON in which an object with one of these keys alone stands for what it gives:
 * `{ $from: "query/rows/0" }` the output of a node, or `input`, `item`, `index`, `state`, and in it a JSON Pointer;
 * `{ $eval: "rows.length > 3", with: { rows: ... } }` an expression, evaluated in an isolate that can do nothing else;
 * `{ $value: ... }` exactly what is there, whatever it looks like.
 */
export type Template =
  | null
  | boolean
  | number
  | string
  | readonly Template[]
  | { readonly [key: string]: Template }

/** A right, as data: the name of a capability, or conditions of its use. */
export type PlanGrant = string | PlanGrantRule

export interface PlanGrantRule {
  readonly capability: string
  /** A person decides over every call. */
  readonly approve?: boolean
  readonly calls?: number
  readonly rate?: { readonly calls: number; readonly perMs: number }
  readonly concurrent?: number
  readonly bytesIn?: number
  readonly bytesOut?: number
  /** By units of the capability's cost. */
  readonly budgets?: Readonly<Record<string, number>>
  /** By JSON Pointers into the final arguments: what may stand there. */
  readonly only?: Readonly<Record<string, readonly ArgumentRule[]>>
}

/** A value that must be equal, or a text that begins so, or a number within bounds. */
export type ArgumentRule =
  | string
  | number
  | boolean
  | null
  | { readonly prefix: string }
  | { readonly min?: number; readonly max?: number }

/** What may be used up in all, retries and compensation included. What is left out is bounded by what is around. */
export interface Budget {
  readonly fuel?: number
  /** Calls of capabilities. */
  readonly calls?: number
  /** Attempts of nodes. */
  readonly steps?: number
  /** Milliseconds of active time, summed over what runs at once. */
  readonly activeMs?: number
  /** Milliseconds from the start, waiting included. */
  readonly wallMs?: number
  /** Bytes in and out of guests. */
  readonly bytes?: number
  /** By units of the capabilities' costs: tokens, money. */
  readonly units?: Readonly<Record<string, number>>
}

/** Why something failed, as far as retries and fallbacks care. */
export const ERROR_CLASSES = [
  'transient',
  'rate-limited',
  'timeout',
  'invalid',
  'denied',
  'fatal',
  'unknown',
] as const

export type ErrorClass = (typeof ERROR_CLASSES)[number]

export interface Retry {
  /** The first included: 2 to 10. */
  readonly attempts: number
  /** Nothing else is tried again. */
  readonly on: readonly ErrorClass[]
  /** Before the second attempt, milliseconds; doubled before each one more. Default 200. */
  readonly delayMs?: number
  /** The longest wait, also of what a service asks for. Default 60,000. */
  readonly mostDelayMs?: number
}

/** In place of a failed node's output: exactly one of `node`, `cached`, `value` and `ask`. */
export interface Fallback {
  /** Default: whatever it failed with. */
  readonly on?: readonly ErrorClass[]
  /** A node of the same scope, which starts only then; its output stands in. */
  readonly node?: string
  /** The output of this node in an earlier run of the plan, if that is young enough. */
  readonly cached?: { readonly mostAgeMs: number }
  readonly value?: Template
  /** A question to a person, who gives the value. */
  readonly ask?: string
}

/** How a completed node is undone: `output` can be referred to. */
export type Compensation =
  | { readonly kind: 'call'; readonly capability: string; readonly input?: Template }
  | ({
      readonly kind: 'program'
      readonly grants?: readonly PlanGrant[]
      readonly limits?: Readonly<Record<string, number>>
    } & Program)
