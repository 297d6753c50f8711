/**
 * WASI 0.2 for a component: a world of its own behind its `wasi:` imports, with nothing in it that was not granted.
 *
 * Invariants
 * 1. What the host does in a call is charged to the guest.
 * 2. Time and randomness are the guest's own: equal seeds, times and calls give equal results.
 * 3. What it asks of HTTP goes through a capability (`http-calls.ts`), and it waits for that in earnest.
 * 4. A guest that sleeps moves its clock, within `idleMs` over all of its sleeps; nobody waits for it.
 */
import { DISPOSE } from '../base/disposal.ts'
import { exhausted } from '../machine/exhausted.ts'
import type { Limits } from '../machine/limits.ts'
import type { WasiTree } from '../ports/wasi-files.ts'
import type { WasiEnd, WasiHost, WasiMissing, WasiState, WasiWait } from '../ports/wasi-host.ts'
import type { ChangedTree, OpenWasiTree, WasiSource } from '../ports/wasi-source.ts'
import type { CapabilityCalls } from './capability-calls.ts'
import { type ComponentImports, hostInterfaces, type ImportCall } from './component-imports.ts'
import { type ComponentEnd, GuestExit, GuestStop } from './component-outcome.ts'
import type { ImportedFunction } from './component-shape.ts'
import type { LateControl } from './guest-control.ts'
import { HttpCalls } from './http-calls.ts'
import { SUSPENDED } from './link/component-function.ts'
import type { ModuleClock } from './module/module-clock.ts'
import { ModuleRandom } from './module/module-random.ts'

export interface ComponentDirectory {
  /** Where the guest sees it: an absolute path. */
  readonly guestPath: string
  readonly writable: boolean
  /** Of a directory in memory; the other kind is opened. */
  readonly files?: Readonly<Record<string, Uint8Array>>
  readonly open?: OpenWasiTree
}

/** What a component is granted of WASI. */
export interface ComponentWorld {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly stdin: Uint8Array
  readonly directories: readonly ComponentDirectory[]
  readonly clock: boolean
  readonly random: boolean
}

export interface ComponentWasiParts {
  readonly source: WasiSource
  readonly world: ComponentWorld
  /** Of the component: those of WASI are answered. */
  readonly imports: readonly ImportedFunction[]
  readonly limits: Limits
  readonly control: LateControl
  /** 32 bytes. */
  readonly seed: Uint8Array
  readonly clock: ModuleClock
  readonly sha256: (bytes: Uint8Array) => Uint8Array
  /** All that it writes to standard output is a part of its value, within `bytesOut`: no log. */
  readonly collects?: boolean | undefined
  /** Behind HTTP. Left out, there is none. */
  readonly calls?: CapabilityCalls | undefined
  /** Of a captured guest. */
  readonly state?: WasiState | undefined
}

const CALL_FUEL = 5_000
/** Bytes that are drawn are hashed. */
const FUEL_PER_RANDOM_BYTE = 60
const DESCRIPTORS = 256
const RESOURCES = 1_024
const NS_PER_MS = 1_000_000n

export class ComponentWasi implements Disposable {
  readonly host: WasiHost
  readonly imports: ComponentImports
  readonly #parts: ComponentWasiParts
  /** By place, with what was changed where they are in memory. */
  readonly #trees: readonly (WasiTree | ChangedTree)[]
  /** Whether the import that is being called waits. */
  #suspends = false

  /** @throws CaissonError `invalid_argument`, `invalid_limit`, `quota_exceeded`, `corrupted` (the state) */
  constructor(parts: ComponentWasiParts) {
    this.#parts = parts
    const { source, world, limits, clock, seed, sha256, calls, state, collects } = parts
    const nowNs = (): bigint => clock.position()
    this.#trees = world.directories.map(({ files, open }) =>
      open === undefined ? source.openMemoryTree(files ?? {}, nowNs) : open(nowNs),
    )
    this.host = source.openHost(
      {
        args: world.args,
        env: world.env,
        stdin: world.stdin,
        directories: world.directories.map(({ guestPath, writable }, at) => ({
          guestPath,
          writable,
          tree: this.#trees[at] as WasiTree,
        })),
        ...(world.clock && { clock }),
        ...(world.random && { random: new ModuleRandom(seed, sha256) }),
        ...(calls && { http: new HttpCalls(calls) }),
        limits: {
          stdoutBytes: collects === true ? limits.bytesOut : limits.logBytes,
          stderrBytes: limits.logBytes,
          descriptors: DESCRIPTORS,
          resources: RESOURCES,
          requestBytes: calls === undefined ? 0 : limits.bytesOut,
        },
      },
      { wait: (until) => this.#wait(until), halt: (end) => this.#halt(end) },
      state,
    )
    const ids = parts.imports.map((one) => one.interface).filter((id) => id.startsWith('wasi:'))
    const answered = hostInterfaces(this.host.preview2([...new Set(ids)]))
    this.imports = {
      func: (from, name, type) => {
        const call = answered.func(from, name, type)
        return call && this.#charged(call)
      },
      dropResource: answered.dropResource,
    }
  }

  /** Interfaces that the component imports and its world does not have. */
  get missing(): readonly WasiMissing[] {
    const seen = new Set(this.#parts.imports.map((one) => one.interface))
    return this.host.missing([...seen].map((module) => ({ module })))
  }

  /** What was made or changed in directories in memory, by the path that it has in the guest. */
  files(): Record<string, Uint8Array> {
    const files: Record<string, Uint8Array> = {}
    for (const [at, tree] of this.#trees.entries()) {
      if (!('changed' in tree)) continue
      const path = this.#parts.world.directories[at]?.guestPath ?? ''
      for (const [name, bytes] of tree.changed()) files[`${path === '/' ? '' : path}/${name}`] = bytes
    }
    return files
  }

  #charged(call: ImportCall): ImportCall {
    const { control } = this.#parts
    return (args) => {
      control.gauge.charge(CALL_FUEL + args.reduce((sum: number, one) => sum + bytesOf(one), 0))
      const answer = this.#waiting(() => call(args))
      if (answer instanceof Uint8Array) control.gauge.charge(answer.length * FUEL_PER_RANDOM_BYTE)
      return answer
    }
  }

  /** What it gives is nothing where the guest waits: then it is called again when there is an answer. */
  #waiting(call: () => unknown): unknown {
    const answer = call()
    if (!this.#suspends) return answer
    this.#suspends = false
    this.#parts.calls?.waitForRequests(() => this.#waiting(call))
    return SUSPENDED
  }

  #wait({ untilNs, requests }: WasiWait): 'ready' | 'suspended' | 'impossible' {
    if (requests.length > 0 && this.#parts.calls !== undefined) {
      this.#suspends = true
      return 'suspended'
    }
    if (untilNs === undefined || requests.length > 0) return 'impossible'
    const { clock, limits, control } = this.#parts
    clock.skip(untilNs)
    if (clock.skippedNs > BigInt(limits.idleMs) * NS_PER_MS) control.gauge.halt('idle')
    return 'ready'
  }

  #halt(end: WasiEnd): void {
    this.#parts.control.end(end.kind === 'exit' ? new GuestExit(end.code) : new GuestStop(this.#endOf(end)))
  }

  #endOf(end: Exclude<WasiEnd, { kind: 'exit' }>): ComponentEnd {
    switch (end.kind) {
      case 'denied':
        return denied('not_granted', `The component used ${end.import}, and nobody granted it: ${end.grant}.`)
      case 'limit':
        return denied('quota_exceeded', 'The component holds more resources than it may.')
      case 'signal':
        return exhausted('memory', this.#parts.limits) // of preview 1 only
    }
  }

  [Symbol.dispose](): void {
    this.host[DISPOSE]()
  }
}

function denied(code: string, message: string): ComponentEnd {
  return { status: 'failed', error: { name: 'Denied', code, message } }
}

function bytesOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return ArrayBuffer.isView(value) ? value.byteLength : 0
}
