/** What an embedder gives for a component. */
import type { HostInterfaces } from '../../component/component-imports.ts'
import type { PreparedCacheOptions } from '../../component/core/prepared-cache.ts'
import type { OpenWasiTree } from '../../ports/wasi-source.ts'
import type { GuestOutcome } from '../guest-runs.ts'
import type { ResumeOptions, RunOptions } from '../options.ts'

/** A directory that a component finds opened. */
export interface ComponentDirectoryGrant {
  /** A directory in memory with these files, by relative path; `{}` is an empty one. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Instead of `files`: opens a real directory (`createHostTree` of `caisson/bindings` in Node). */
  readonly open?: OpenWasiTree
  /** Default false: every change is refused (`read-only`). */
  readonly writable?: boolean
}

/** What a component is granted of WASI 0.2. What is left out is not there. */
export interface ComponentWasiOptions {
  /** The first is the program's name. Default none. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** All of standard input, then its end. Text is given as UTF-8. Default: at its end. */
  readonly stdin?: string | Uint8Array
  /** By absolute path as the guest sees it. */
  readonly directories?: Readonly<Record<string, ComponentDirectoryGrant>>
  /** Logical time. Default false. */
  readonly clock?: boolean
  /** Seeded randomness. Default false. */
  readonly random?: boolean
  /**
   * What becomes of a component that imports an interface which is useless without a grant that it lacks. `deny`, the
   * default: it fails inside of the guest when it is used. `refuse`: the component is not opened (`missing_imports`).
   */
  readonly missing?: 'deny' | 'refuse'
}

/**
 * How a component waits for capabilities that are answered later.
 *
 * - `asyncify`: it leaves its stack, which is data then: it can be captured, and goes on elsewhere. Takes the package binaryen,
 *   or `caisson build --suspend`, and time once for each component: not for those of more than 4 MiB.
 * - `jspi`: the engine holds its stack. It cannot be captured while it waits.
 * - `reexecute`: it is executed again from its beginning with each answer, which costs as much again each time. It cannot be
 *   captured while it waits, and is given no real directory to write into.
 */
export type Suspension = 'asyncify' | 'jspi' | 'reexecute'

/** Options of one component. Those of `run` mean the same. */
export interface OpenComponentOptions
  extends Pick<
    RunOptions,
    'grants' | 'guard' | 'limits' | 'signal' | 'seed' | 'nowMs' | 'domain' | 'principal' | 'label'
  > {
  /**
   * What stands behind its imports beside grants and WASI: functions and classes in camelCase by the interface that declares
   * them, with or without a version; `$root` for functions beside all interfaces.
   */
  readonly interfaces?: HostInterfaces
  /** WASI 0.2. Left out, nothing of it is there. */
  readonly wasi?: ComponentWasiOptions
  /** A checkpoint of the same component: it goes on from there. What it was granted is granted again. */
  readonly from?: Uint8Array
  /** How it waits. Default `asyncify`; with `jspi` it has no checkpoints. */
  readonly suspension?: Exclude<Suspension, 'reexecute'>
  /** Told how much of the preparation is done, from 0 to 1. */
  readonly onProgress?: (done: number) => void
  /** Where prepared components are kept between processes: what it gives is used only if it is authenticated. */
  readonly cache?: PreparedCacheOptions
}

/** Options of a component whose stack is held where it waits: it has no checkpoints. */
export interface OpenLiveComponentOptions extends Omit<OpenComponentOptions, 'from'> {
  readonly suspension: 'jspi'
}

/** Options of one component that is run to its end. Those of `run` and of `openComponent` mean the same. */
export interface RunComponentOptions
  extends Pick<
      RunOptions,
      | 'grants'
      | 'guard'
      | 'limits'
      | 'signal'
      | 'seed'
      | 'nowMs'
      | 'domain'
      | 'principal'
      | 'label'
      | 'stateDigest'
      | 'run'
      | 'scope'
      | 'stopAtCall'
    >,
    Pick<OpenComponentOptions, 'wasi' | 'onProgress' | 'cache'> {
  /** What is called: `run`, or `example:shop/prices@1.0.0#lookup`. Default `run`, or else what runs a command of WASI. */
  readonly export?: string
  /** One plain value for each parameter: objects for records, `{ tag, val }` for variants, `null` for absent options. */
  readonly args?: readonly unknown[]
  /** What it is called where it is shown. Default `component`. */
  readonly name?: string
  /**
   * Whether the value of one that completed is a `ComponentResult`: beside what its export gave, all that it wrote, and what
   * it exited with, whether or not that is success. It counts in `limits.bytesOut` then, and what it is given of WASI in
   * `limits.bytesIn`. Default false.
   */
  readonly collect?: boolean
  /** How it waits. Default: the first of `asyncify`, `jspi` and `reexecute` that it can wait by here. */
  readonly suspension?: Suspension
}

/** Options of a kept run of a component that is gone on with. */
export interface ResumeComponentOptions
  extends Omit<ResumeOptions, 'thread' | 'atEnd'>,
    Pick<RunComponentOptions, 'onProgress' | 'cache' | 'suspension'> {
  /** Real directories again, under the paths that they had. */
  readonly directories?: Readonly<Record<string, Pick<ComponentDirectoryGrant, 'open'>>>
}

/**
 * How a component ended that was run to its end. Where it completed, `value` is what its export gave, of a `result` the value of
 * `ok`; `err`, and an exit that is none of success, are `failed`. In `output` is what it had written by then, up to
 * `limits.logBytes` of each.
 */
export type RunComponentOutcome = GuestOutcome
