/**
 * The world of one WASI guest, preview 1 or 2: what it is granted, and what the host holds for it.
 *
 * Nothing is ambient. What `WasiWorld` does not name does not exist for the guest: no clock, no randomness, no
 * directory, no network, no environment, and never the stdio of the process.
 *
 * Invariants that an implementation keeps
 * 1. Imports return. No import throws through a WebAssembly frame, whatever the guest passes: preview 1 answers with an
 *    errno, preview 2 with the error of the interface (an object that the glue takes for `result<_, E>`), and where an
 *    interface has no error the guest is halted.
 * 2. After the guest has exited, or was halted, no import has any effect.
 * 3. Every import is bounded before it reads guest memory or allocates.
 * 4. Equal worlds, answers and calls give equal results: nothing of the host is in them.
 */
import type { WasiTree, WasiTreeState } from './wasi-files.ts'

/** The guest's logical time. A read may move it; sleeping moves it. Both clocks are one. */
export interface WasiClock {
  /** Nanoseconds since the epoch. */
  wallNs(): bigint
  /** Nanoseconds from an arbitrary start, never going back. */
  monotonicNs(): bigint
  /** Where it stands, without moving it: for a checkpoint. */
  position(): bigint
  /** Back to where a checkpoint was taken. */
  moveTo(position: bigint): void
}

/** The guest's seeded stream of bytes. */
export interface WasiRandom {
  bytes(length: number): Uint8Array
  /** Bytes drawn so far. */
  position(): bigint
  moveTo(position: bigint): void
}

/** A directory that the guest finds opened. */
export interface WasiDirectoryGrant {
  /** Where the guest sees it: an absolute path, `/` or `/data`. */
  readonly guestPath: string
  readonly tree: WasiTree
  /** Where false, every change is `read-only` (EROFS). Default false. */
  readonly writable?: boolean
}

export interface WasiHttpRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
  readonly timeoutMs?: number
}

export type WasiHttpAnswer =
  | {
      readonly ok: true
      readonly status: number
      readonly headers: readonly (readonly [name: string, value: string])[]
      readonly body: Uint8Array
    }
  /** `denied`: the allow-list or the gate said no. `failed`: the network did. */
  | { readonly ok: false; readonly reason: 'denied' | 'failed' | 'timeout' | 'too-large' }

/**
 * The way to the `fetch` capability, with its gate and its allow-list. A request is asked for by `send` and answered
 * later; the guest waits for it through `WasiTurns.wait`.
 */
export interface WasiHttp {
  /** Asks for it. The number names it. Never throws. */
  send(request: WasiHttpRequest): number
  /** Undefined until it is there. The same answer each time. */
  answer(request: number): WasiHttpAnswer | undefined
  /** The guest is not interested any more. */
  drop(request: number): void
}

/** What a guest waits for: any of it ends the wait. */
export interface WasiWait {
  /** A time of its monotonic clock. */
  readonly untilNs?: bigint
  /** Requests of `WasiHttp`. */
  readonly requests: readonly number[]
}

/** How the machine that runs the guest waits and stops it. */
export interface WasiTurns {
  /**
   * Called inside an import that cannot go on.
   *
   * `ready`: one of the reasons has come, and the clock stands at it or after it. `suspended`: the import returns at
   * once, having done nothing, with a result that nobody may read; when one has come, the machine calls the very same
   * import again. `impossible`: this machine waits for nothing of the kind; the guest gets an error for it.
   */
  wait(until: WasiWait): 'ready' | 'suspended' | 'impossible'
  /** Stops the guest as soon as this import has returned. Called once, with what `WasiHost.end` says. */
  halt(end: WasiEnd): void
}

/** Why the guest may not go on. */
export type WasiEnd =
  /** It said so: the exit code, from 0 to 4294967295. Preview 2's `exit(err)` is 1. */
  | { readonly kind: 'exit'; readonly code: number }
  /** It used something that was not granted, in an interface that has no error to say so. */
  | { readonly kind: 'denied'; readonly grant: WasiGrant; readonly import: string }
  /** It holds more resources than it may. */
  | { readonly kind: 'limit'; readonly limit: 'resources' }
  /** `proc_raise`. */
  | { readonly kind: 'signal'; readonly signal: number }

/** What a world may lack. */
export type WasiGrant = 'clock' | 'random' | 'directories' | 'http' | 'sockets'

export interface WasiWorld {
  /** The first is the program's name. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** All that stands on standard input; then its end. */
  readonly stdin: Uint8Array
  readonly directories: readonly WasiDirectoryGrant[]
  readonly clock?: WasiClock
  readonly random?: WasiRandom
  readonly http?: WasiHttp
  readonly limits: WasiLimits
}

export interface WasiLimits {
  /** Bytes kept of standard output, and of standard error. What is written beyond is accepted, dropped and counted. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** Open files and directories at once, standard streams and granted directories among them. */
  readonly descriptors: number
  /** Resources of preview 2 (streams, pollables, descriptors, ...) that live at once. */
  readonly resources: number
  /** Bytes of one HTTP request's body. */
  readonly requestBytes: number
}

export interface WasiOutput {
  /** A copy of what was kept. */
  readonly bytes: Uint8Array
  /** Bytes that were written beyond the limit. */
  readonly droppedBytes: number
}

/** An import that the world does not grant. */
export interface WasiMissing {
  /** As the module or component names it: `wasi_snapshot_preview1` and `clock_time_get`, or an interface alone. */
  readonly module: string
  readonly name?: string
  /** What would have to be granted; `unknown` where no world of ours has it. */
  readonly grant: WasiGrant | 'unknown'
}

/** An import of a core module (`WebAssembly.Module.imports`), or an interface of a component. */
export interface WasiImport {
  readonly module: string
  readonly name?: string
}

/** Functions and classes of one interface, as generated glue takes them. */
export type WasiInterface = Readonly<Record<string, unknown>>

/** Imports of a core module by name. */
export type WasiFunctions = Readonly<Record<string, (...args: readonly never[]) => number>>

/** Memory of the guest, as the host looks at it: `buffer` is another one after it has grown. */
export interface WasiMemory {
  readonly buffer: ArrayBufferLike
}

/** One guest's world, open. */
export interface WasiHost extends Disposable {
  /** The imports `wasi_snapshot_preview1`. They answer EFAULT until a memory is attached. */
  preview1(): WasiFunctions
  attach(memory: WasiMemory): void
  /**
   * The imports of a component, under exactly the ids that were asked for, with or without a version
   * (`wasi:io/streams`, `wasi:io/streams@0.2.6`). Ids that are not WASI's are left out.
   */
  preview2(ids: readonly string[]): Readonly<Record<string, WasiInterface>>
  /** Which of these are not granted: to refuse before anything is instantiated. */
  missing(imports: readonly WasiImport[]): readonly WasiMissing[]
  /** Undefined while the guest may go on. */
  readonly end: WasiEnd | undefined
  readonly stdout: WasiOutput
  readonly stderr: WasiOutput
  /**
   * A live resource of preview 2 by the number that a checkpoint knows it by, and its number: for glue whose tables
   * are made anew after a restore.
   */
  resource(id: number): object | undefined
  resourceId(resource: object): number | undefined
  /**
   * What the host holds, as plain data (numbers, bigints, strings, bytes, arrays, objects).
   * @throws CaissonError `unsupported`, naming what cannot be captured in `details.handles`
   */
  capture(): WasiState
}

/** A descriptor of preview 1 or of preview 2. */
export interface WasiDescriptorState {
  readonly number: number
  readonly handle:
    | { readonly kind: 'stdin' | 'stdout' | 'stderr' }
    /** A granted directory, by its place in `WasiWorld.directories`. */
    | { readonly kind: 'granted'; readonly grant: number }
    | { readonly kind: 'directory'; readonly grant: number; readonly inode: bigint }
    | { readonly kind: 'file'; readonly grant: number; readonly inode: bigint; readonly offset: bigint }
  readonly rights: bigint
  readonly inheriting: bigint
  /** The fdflags of preview 1. */
  readonly flags: number
}

/** What `capture` gives and opening takes back. Never trusted. */
export interface WasiState {
  readonly version: 1
  readonly stdinOffset: number
  readonly stdout: WasiOutput
  readonly stderr: WasiOutput
  readonly clock: bigint
  readonly random: bigint
  /** By grant; null for a tree that is not in memory. */
  readonly trees: readonly (WasiTreeState | null)[]
  readonly descriptors: readonly WasiDescriptorState[]
  /** When the `poll_oneoff` began that is suspended; null where none is. */
  readonly waitingSinceNs: bigint | null
  readonly resources: readonly WasiResourceState[]
  readonly nextResource: number
}

/** One live resource of preview 2. `data` is of its kind's own shape. */
export interface WasiResourceState {
  readonly id: number
  readonly kind: string
  readonly data: unknown
}
