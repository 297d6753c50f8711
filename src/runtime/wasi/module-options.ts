/** What an embedder gives for a WASI module, and gets of it. */
import type { CoreManifest } from '../../component/core/core-manifest.ts'
import type { ModuleCall } from '../../component/module/module-call.ts'
import type { ModuleResult } from '../../component/module/module-end.ts'
import type { CompiledModule } from '../../ports/engine-source.ts'
import type { PreparedStore } from '../../ports/prepared-store.ts'
import type { OpenWasiTree } from '../../ports/wasi-source.ts'
import type { ResumeOptions, RunOptions } from '../options.ts'
import type { Outcome } from '../outcome.ts'

/** A directory that a module finds opened. */
export interface ModuleDirectoryGrant {
  /**
   * A directory in memory with these files, by relative path; `{}` is an empty one. What the module makes or changes is
   * in the outcome, at most 64 MiB and 10,000 entries.
   */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Instead of `files`: opens a real directory, with `createHostTree` of `caisson/bindings` in Node. */
  readonly open?: OpenWasiTree
  /** Default false: every change is refused (EROFS). */
  readonly writable?: boolean
}

/** Where prepared modules are kept between processes. What it gives is believed only with a MAC under `key`. */
export interface PreparedCacheGrant {
  readonly store: PreparedStore
  /** 32 random bytes that nobody else has. */
  readonly key: Uint8Array
}

/** How a module is prepared. */
export interface PrepareModuleOptions {
  /** Of which `memoryBytes` becomes part of the module. */
  readonly limits?: RunOptions['limits']
  /**
   * Whether it is made suspendable: then it can sleep in earnest, await capabilities, and be checkpointed. `auto`, the
   * default: up to 4 MiB, where the package binaryen is there. `true` refuses where it cannot.
   */
  readonly suspendable?: boolean | 'auto'
  /** Told how much is done, from 0 to 1. What it throws ends the preparation. */
  readonly onProgress?: (done: number) => void
  readonly signal?: AbortSignal
  readonly cache?: PreparedCacheGrant
  /**
   * Of a command that takes its program from standard input, an interpreter: its start, up to the first read of it, is to
   * be done once (`RunModuleOptions.startUp`). It is run up to there, with these arguments and variables, to learn which
   * of its functions are at work; they alone are made suspendable, and it is so nowhere else. Needs the package binaryen,
   * and takes twice as long.
   */
  readonly startImage?: Pick<RunModuleOptions, 'name' | 'args' | 'env'>
}

/** A module that was prepared: plain data, to be given to `runModule` here or elsewhere. Whoever made it is trusted. */
export interface PreparedModule {
  readonly kind: 'prepared-module'
  /** What a kept run of it can be gone on with. */
  readonly engine: string
  readonly manifest: CoreManifest
  /** What an engine compiles. */
  readonly wasm: Uint8Array
  /** The same compiled, where the platform compiles nothing at run time. */
  readonly module?: CompiledModule
}

/** Options of one module. Those of `run` mean the same. */
export interface RunModuleOptions
  extends Omit<PrepareModuleOptions, 'limits' | 'signal' | 'startImage'>,
    Pick<
      RunOptions,
      | 'grants'
      | 'guard'
      | 'limits'
      | 'signal'
      | 'seed'
      | 'nowMs'
      | 'domain'
      | 'stateDigest'
      | 'run'
      | 'scope'
      | 'stopAtCall'
      | 'principal'
      | 'label'
    > {
  /** The program's name, its first argument. Default `program`. */
  readonly name?: string
  /** Arguments after it. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** All of standard input, then its end. Text is given as UTF-8. Default: at its end. */
  readonly stdin?: string | Uint8Array
  /** By absolute path as the guest sees it. */
  readonly directories?: Readonly<Record<string, ModuleDirectoryGrant>>
  /** Logical time; default true. Without it, asking for the time fails in the guest. */
  readonly clock?: boolean
  /** Seeded randomness; default true. */
  readonly random?: boolean
  /**
   * What is run: an exported function without parameters (default `_start`), or, of a reactor, calls of exports that take
   * texts and lists of texts by the canonical ABI. A reactor is initialised before.
   */
  readonly entry?: string | readonly ModuleCall[]
  /**
   * Asks for a start-up that is the same for all runs, and so is done once: what a command does before it reads standard
   * input (`[]`, and it has to be prepared with `startImage`), or the initialising of a reactor and these calls. It has time zero and fixed
   * randomness, until it asks for something else; then it goes on as a part of this run.
   */
  readonly startUp?: readonly ModuleCall[]
  /**
   * What becomes of function imports that neither WASI has nor a grant gives. `refuse`, the default: the module is not
   * run (`missing_imports`). `trap`: a call of one ends the guest, `failed` with code `not_granted`.
   */
  readonly missing?: 'refuse' | 'trap'
}

/** Options of a kept run of a module that is gone on with. */
export interface ResumeModuleOptions
  extends Omit<PrepareModuleOptions, 'limits' | 'signal' | 'startImage'>,
    Omit<ResumeOptions, 'thread' | 'atEnd'> {
  /** Real directories again, under the paths that they had. */
  readonly directories?: Readonly<Record<string, Pick<ModuleDirectoryGrant, 'open'>>>
}

/**
 * How a module ended. Where it completed, `value` is a `ModuleResult`; one that failed or ran out of something has in
 * `output` what it had written by then, where this process ran it.
 */
export type ModuleOutcome = Outcome & {
  readonly output?: Pick<ModuleResult, 'stdout' | 'stderr'>
} & (
    | { readonly status: 'completed'; readonly value: ModuleResult }
    | { readonly status: Exclude<Outcome['status'], 'completed'> }
  )
