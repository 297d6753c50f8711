/**
 * The interface by which a sandbox, ours or another's, takes part in the benches.
 *
 * One file per subject, one function per suite. A subject does each thing the way its own documentation
 * recommends for speed; what it cannot do it says in words, which the report prints. `subjects/all.ts` lists them.
 */
import type { Ability, Trial } from '../harness/trial.ts'
import type { HostCallShape } from './host-call-shapes.ts'
import type { Program } from './programs.ts'

export interface Subject {
  /** Kebab-case and unique; figures and tables name it so. */
  readonly id: string
  /** A whole sandbox, a build of the engine alone (for what metering costs), what runs graphs of steps, or components. */
  readonly kind: 'sandbox' | 'engine' | 'graph' | 'component'
  /** Version of the package measured, or of the runtime for what is built into it. */
  readonly version: string
  /** What a reader must know to compare fairly: what isolates, what is shared, which language. */
  readonly note: string
  /** `run`: a fresh guest, up to where it could evaluate. `after` closes it. */
  readonly acquire: Ability<() => Trial | Promise<Trial>>
  /** `run`: a fresh guest evaluates `1 + 2`, and the host has the number 3. `after` closes it. */
  readonly firstResult: Ability<() => Trial | Promise<Trial>>
  /** `run`: the guest calls `shape.calls` times and takes every answer; the shape checks the last one. */
  readonly hostCall: (shape: HostCallShape) => Ability<() => Trial | Promise<Trial>>
  /** `run`: a guest that evaluated the program before calls its `run()`; the program checks the result. */
  readonly throughput: (program: Program) => Ability<() => Trial | Promise<Trial>>
  /** `run`: a guest with 100 ms and 64 MiB runs a program that never ends, and returns the nanoseconds until it did. */
  readonly endless?: (source: string) => Ability<() => Trial | Promise<Trial>>
  /** `run`: a guest that did `before` waits, is woken, evaluates `round` and waits again. */
  readonly turn?: (before: string, round: string) => Ability<() => Trial | Promise<Trial>>
  /** `run` returns the bytes that a page downloads, compressed. */
  readonly download?: Ability<() => Trial | Promise<Trial>>
  /** What keeping a waiting guest costs; questions left out are not answered. */
  readonly checkpoints?: CheckpointTrials
  /** What the library of guests and TypeScript cost; questions left out are not answered. */
  readonly guest?: GuestTrials
  /** What a graph of steps costs; questions left out are not answered. */
  readonly graph?: GraphTrials
  /** What components cost; questions left out are not answered. */
  readonly component?: ComponentTrials
}

/** Cases of the component suite, which says what each one is. */
export type ComponentQuestion =
  | 'call'
  | 'host-call'
  | 'instance'
  | 'cached'
  | 'loop'
  | 'python-prepared'
  | 'python-print'
  | 'python-warm'
  | 'ruby-warm'
  | 'python-loop'
  | 'ruby-loop'

export type ComponentTrials = Readonly<Partial<Record<ComponentQuestion, () => Trial | Promise<Trial>>>>

/** Cases of the guest suite, which says what each one is. */
export type GuestQuestion =
  | 'acquire'
  | 'live-image'
  | 'first-url'
  | 'first-abort'
  | 'first-encoding'
  | 'first-stream'
  | 'first-form'
  | 'typescript-first'
  | 'typescript-cached'
  | 'one-shot'

export type GuestTrials = Readonly<Partial<Record<GuestQuestion, () => Trial | Promise<Trial>>>>

/** Cases of the checkpoint suite, which says what each one is. */
export type CheckpointQuestion =
  | 'step'
  | 'step-size'
  | 'step-unkeyed'
  | 'step-unkeyed-size'
  | 'first-size'
  | 'size'
  | 'restore'
  | 'restore-chain'
  | 'wake'
  | 'crowd-memory'
  | 'crowd-wake'
  | 'few-pages'
  | 'block'

export type CheckpointTrials = Readonly<Partial<Record<CheckpointQuestion, () => Trial | Promise<Trial>>>>

/** Cases of the graph suite, which says what each one is. */
export type GraphQuestion =
  | 'chain-200'
  | 'chain-1000'
  | 'growth'
  | 'durable-200'
  | 'syncs'
  | 'bytes'
  | 'resume-10'
  | 'resume-100'
  | 'resume-1000'
  | 'resume-growth'
  | 'resume-steps'
  | 'crowd-memory'
  | 'verify'

export type GraphTrials = Readonly<Partial<Record<GraphQuestion, () => Trial | Promise<Trial>>>>

/** What opens a subject, and why that may fail: a package that is not installed, a runtime that lacks something. */
export interface SubjectSource {
  readonly id: string
  readonly open: () => Subject | Promise<Subject>
}
