/**
 * An instance of a component with all that stands behind its imports: capabilities, WASI, what an embedder gives. New, or
 * in the place of one that was captured.
 *
 * Invariant
 * 1. What the component imports and nobody gives is refused by name before anything of it runs.
 */
import { DISPOSE } from '../base/disposal.ts'
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { GuestCapability, SyncCalls } from '../capability/call.ts'
import type { Limits } from '../machine/limits.ts'
import type { MemoryChange, TurnControl } from '../machine/turn.ts'
import type { WasiSource } from '../ports/wasi-source.ts'
import { CapabilityCalls, type CapabilityCallsParts } from './capability-calls.ts'
import { checkAwaitsHttp, sendsRequests } from './check-waits.ts'
import { type ComponentState, restoreComponent } from './component-capture.ts'
import { type ComponentImports, firstOf } from './component-imports.ts'
import { type ComponentInstance, openComponentInstance } from './component-instance.ts'
import { ComponentWasi, type ComponentWorld } from './component-wasi.ts'
import { LateControl } from './guest-control.ts'
import { awaitsHttp } from './http-calls.ts'
import type { ImportWait } from './import-wait.ts'
import { ModuleClock, msAt } from './module/module-clock.ts'
import type { PreparedComponent } from './prepare-component.ts'
import type { AnsweredGuest, RepeatedAnswers } from './repeated-answers.ts'

export interface ComponentLifeParts {
  readonly prepared: PreparedComponent
  /** In the order in which `syncCalls` counts them. */
  readonly capabilities: readonly GuestCapability[]
  readonly schemas: CapabilityCallsParts['schemas']
  readonly syncCalls: SyncCalls
  readonly limits: Limits
  /** Of a new one: a captured one has its own. */
  readonly seed: Uint8Array
  /** Logical time, milliseconds since the epoch. */
  readonly nowMs: number
  /** Left out, nothing of WASI is there. */
  readonly wasi?: {
    readonly source: WasiSource
    readonly world: ComponentWorld
    readonly refuses?: boolean
    readonly collects?: boolean
  }
  /** What an embedder puts behind imports beside. */
  readonly interfaces?: ComponentImports
  readonly monotonic: () => number
  readonly sha256: (bytes: Uint8Array) => Uint8Array
  /** What decides about time while it starts. */
  readonly starts?: TurnControl
  /** How it waits where it was not prepared to leave its stack. */
  readonly waitsBy?: 'held' | RepeatedAnswers | undefined
  /** A captured one. */
  readonly from?: {
    readonly memoryBytes: number
    readonly changes: Iterable<MemoryChange>
    readonly state: ComponentState
  }
}

export interface ComponentLife {
  readonly instance: ComponentInstance
  readonly calls: CapabilityCalls
  readonly clock: ModuleClock
  readonly wasi: ComponentWasi['host'] | undefined
  /** What it made or changed in directories in memory, by absolute path as the guest sees it. */
  readonly files: () => Readonly<Record<string, Uint8Array>>
  readonly seed: Uint8Array
}

/**
 * @throws CaissonError as `openComponentInstance` and `restoreComponent`; `checkpoint_refused` where the captured one had
 *   another world of WASI
 */
export async function openComponentLife(parts: ComponentLifeParts): Promise<ComponentLife> {
  const { prepared, limits, capabilities, schemas, syncCalls, monotonic, starts, from, interfaces } = parts
  const { waitsBy } = parts
  const control = new LateControl()
  const clock = new ModuleClock(parts.nowMs)
  clock.skippedNs = from?.state.skippedNs ?? 0n
  const nowMs = (): number => msAt(clock.position())
  const calls = new CapabilityCalls({ capabilities, schemas, syncCalls, limits, control, nowMs })
  const seed = from?.state.seed ?? parts.seed
  const http = sendsRequests(prepared.shape, capabilities)
  if (http && waitsBy === undefined) checkAwaitsHttp(prepared)
  const wasi =
    parts.wasi &&
    new ComponentWasi({
      ...parts.wasi,
      imports: prepared.shape.imports,
      limits,
      control,
      seed,
      clock,
      sha256: parts.sha256,
      calls: http ? calls : undefined,
      state: from?.state.wasi ?? undefined,
    })
  try {
    if (from !== undefined && (from.state.wasi === null) !== (wasi === undefined))
      throw new CaissonError(
        'checkpoint_refused',
        'The component was captured with another world of WASI (option wasi).',
      )
    if (parts.wasi?.refuses === true && wasi !== undefined) refuseMissing(wasi)
    const instance = await openComponentInstance(prepared, {
      imports: firstOf([calls, ...(wasi ? [wasi.imports] : []), ...(interfaces ? [interfaces] : [])]),
      limits,
      monotonic,
      control,
      restores: from !== undefined,
      ...(starts && { starts }),
      ...(waitsBy && {
        waits: {
          by: waitsBy === 'held' ? waitsBy : repeated(waitsBy, { calls, clock, control }),
          isAwaited: (wanted) => calls.isAwaited(wanted) || (http && awaitsHttp(wanted)),
        },
      }),
    })
    if (from !== undefined) restoreComponent({ instance, wasi: wasi?.host, calls }, from, from.state)
    return { instance, calls, clock, wasi: wasi?.host, files: () => wasi?.files() ?? {}, seed }
  } catch (error) {
    wasi?.[DISPOSE]()
    throw error
  }
}

function repeated(
  answers: RepeatedAnswers,
  { calls, clock, control }: Pick<ComponentLife, 'calls' | 'clock'> & { readonly control: LateControl },
): ImportWait {
  const guest: AnsweredGuest = {
    deliver: (given, { module, name }) => calls.deliver(given, module, name),
    takeAsked: () => calls.takeAsked(),
    advance: (ms) => clock.advance(ms),
    fuel: () => control.gauge.consumed,
  }
  return { suspend: (at) => answers.suspend(at, guest) }
}

/** @throws CaissonError `missing_imports` */
function refuseMissing({ missing }: ComponentWasi): void {
  if (missing.length === 0) return
  const names = missing.map(({ module, grant }) => `${module} (${grant})`)
  throw new CaissonError(
    'missing_imports',
    clipText(`The component imports what it has no use for without a grant: ${names.join(', ')}.`, 2_000),
    { details: { missing: missing.map(({ module, grant }) => ({ interface: module, grant })) } },
  )
}
