/** What a guest can wait for: now, a time of its clock, or an answer. */
import { CaissonError } from '../../../src/base/errors.ts'
import type { WasiResourceState, WasiTurns, WasiWait, WasiWorld } from '../../../src/ports/wasi-host.ts'
import type { GuestEnd } from '../guest-end.ts'
import { Resource, type ResourceTable } from './resource.ts'

export interface Preview2Context {
  readonly world: WasiWorld
  readonly turns: WasiTurns
  readonly end: GuestEnd
  readonly resources: ResourceTable
  /** Of all bodies of requests that were not sent yet. */
  readonly unsent: { bytes: number }
}

type Awaited =
  | { readonly kind: 'now' }
  | { readonly kind: 'time'; readonly untilNs: bigint }
  /** The resource that gets it, by number. */
  | { readonly kind: 'answer'; readonly by: number }

/** A resource whose answer comes from outside. */
export abstract class AnsweredResource extends Resource {
  abstract isAnswered(): boolean
  /** The request of `WasiHttp` that was sent for it; undefined before that. */
  abstract request(): number | undefined
  /** No answer will ever come. */
  abstract giveUp(): void
}

export class Pollable extends Resource {
  readonly #context: Preview2Context
  readonly awaited: Awaited

  constructor(context: Preview2Context, awaited: Awaited) {
    super(context.resources)
    this.#context = context
    this.awaited = awaited
  }

  ready(): boolean {
    return isReady(this.#context, this.awaited)
  }

  block(): void {
    pollAll(this.#context, [this])
  }

  override state(): Omit<WasiResourceState, 'id'> {
    return { kind: 'pollable', data: this.awaited }
  }
}

/** A pollable of a checkpoint. @throws CaissonError `corrupted` */
export function restoredAwaited(data: unknown): Awaited {
  const { kind, untilNs } = Object(data) as Readonly<Record<string, unknown>>
  if (kind === 'now') return { kind }
  if (kind === 'time' && typeof untilNs === 'bigint') return { kind, untilNs }
  throw new CaissonError('corrupted', 'The state of a guest waits for something unknown.')
}

/**
 * The places of those that are ready, at least one. Where the guest is suspended the list is empty: nobody reads it,
 * and the call comes again.
 */
export function pollAll(context: Preview2Context, pollables: readonly Pollable[]): Uint32Array {
  const ready = (): number[] => pollables.flatMap((one, at) => (isReady(context, one.awaited) ? [at] : []))
  const now = ready()
  if (now.length > 0 || pollables.length === 0) return Uint32Array.from(now)
  const answers = pollables.flatMap(({ awaited }) => answeredBy(context, awaited) ?? [])
  switch (context.turns.wait(reasonsOf(pollables, answers))) {
    case 'suspended':
      return new Uint32Array(0)
    case 'impossible':
      // Whatever it asks next tells it that nothing comes.
      for (const answer of answers) answer.giveUp()
      return Uint32Array.from(pollables.keys())
    case 'ready': {
      const due = ready()
      // A machine that says so keeps its word; one that does not must not make the guest spin.
      return Uint32Array.from(due.length > 0 ? due : pollables.keys())
    }
  }
}

function reasonsOf(pollables: readonly Pollable[], answers: readonly AnsweredResource[]): WasiWait {
  const times = pollables.flatMap(({ awaited }) => (awaited.kind === 'time' ? [awaited.untilNs] : []))
  const requests = answers.flatMap((answer) => answer.request() ?? [])
  const [first, ...later] = times
  if (first === undefined) return { requests }
  return { requests, untilNs: later.reduce((least, time) => (time < least ? time : least), first) }
}

function answeredBy({ resources }: Preview2Context, awaited: Awaited): AnsweredResource | undefined {
  const found = awaited.kind === 'answer' ? resources.find(awaited.by) : undefined
  return found instanceof AnsweredResource ? found : undefined
}

function isReady(context: Preview2Context, awaited: Awaited): boolean {
  switch (awaited.kind) {
    case 'now':
      return true
    case 'time':
      return context.world.clock === undefined || context.world.clock.monotonicNs() >= awaited.untilNs
    case 'answer':
      return answeredBy(context, awaited)?.isAnswered() ?? true
  }
}
