/** What an embedder gives to a runtime and to each guest. */
import type { Digest } from '../base/digest.ts'
import type { Capability, Effect } from '../capability/capability.ts'
import type { CapabilityFailure } from '../capability/gate/gate-parts.ts'
import type { Grant } from '../capability/grant.ts'
import type { LoopGuardRule } from '../capability/loop-guard.ts'
import type { PersonDecision } from '../capability/person-request.ts'
import type { PreparedCacheOptions } from '../component/core/prepared-cache.ts'
import type { Limits } from '../machine/limits.ts'
import type { AtEnd, ProgramForm } from '../machine/turn.ts'
import type { Approver } from '../ports/approver.ts'
import type { CallLog } from '../ports/call-log.ts'
import type { Clock } from '../ports/clock.ts'
import type { EngineSource } from '../ports/engine-source.ts'
import type { Entropy } from '../ports/entropy.ts'
import type { Lease } from '../ports/lease.ts'
import type { RunStore } from '../ports/run-store.ts'
import type { Signer } from '../ports/signer.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { Language } from '../program/language.ts'
import type { CheckpointOptions } from './checkpoints.ts'
import type { ModuleOptions } from './module-options.ts'

/** Options of `openRuntime`. */
export interface RuntimeOptions {
  /** Everything that guests may be granted. A guest gets nothing unless a grant names it. */
  readonly capabilities?: readonly Capability[]
  /** Limits of guests that give none themselves; what is left out comes from `DEFAULT_LIMITS`. */
  readonly limits?: Partial<Limits>
  /** Of guests that give none themselves. */
  readonly guard?: LoopGuardRule | false
  /** The largest `memoryBytes` that any guest may have. Default 256 MiB, at least the default limit. */
  readonly maxMemoryBytes?: number
  /** Guests that are at work at once: runs, and steps of started guests. More wait in line, domain by domain. Default 64. */
  readonly concurrency?: number
  /** Of one trust domain, so that none takes all places. Default: as `concurrency`. */
  readonly concurrencyPerDomain?: number
  /**
   * Guests that hold an instance while they wait, about 0.8 MB each or what their memory grew to. The others are
   * parked as what they changed, and woken for their next turn. Default 64.
   */
  readonly instances?: number
  /** Idle instances kept per trust domain, of the 32 domains used last. Default 4. */
  readonly keepInstances?: number
  readonly callLog?: CallLog
  /** Asked, and waited for, where a person has to decide over a call. Without one, kept runs are suspended then. */
  readonly approver?: Approver
  /** Calls with these effects need an approval, whatever grants and capabilities say. Default none. */
  readonly approveEffects?: readonly Effect[]
  readonly lease?: Lease
  readonly telemetry?: Telemetry
  /**
   * Told why a call failed: what the implementation threw, what a schema did not like in its result, that it took
   * too long. Guests never see it. What the listener throws is dropped.
   */
  readonly onCapabilityError?: (failure: CapabilityFailure) => void
  /** Replaces the runtime's own clock, e.g. by one that stands still. */
  readonly clock?: Clock
  /** Replaces the runtime's own source of seeds. */
  readonly entropy?: Entropy
  /** Replaces the engine that comes with the package. */
  readonly engines?: EngineSource
  /** Where runs that have a name are kept. */
  readonly store?: RunStore
  /**
   * Where WebAssembly is kept that was prepared, between processes: of nodes of plans, and of what is run or opened without
   * a `cache` of its own. What it gives is used only if it is authenticated with the key.
   */
  readonly preparedCache?: PreparedCacheOptions
  /**
   * How long a process that stopped in silence (frozen, cut off, on another machine) keeps the others from its kept
   * runs. One that died on the same machine keeps nobody. 100 to 3,600,000 milliseconds, default 15,000.
   */
  readonly leaseMs?: number
  /** What vouches for runs of plans: see `ReceiptOptions`. */
  readonly receipts?: ReceiptOptions
  /** Keys and bounds of checkpoints. */
  readonly checkpoints?: CheckpointOptions
  /**
   * What its capabilities reach, in the host's own words, one text for each thing (a directory, a host, an account): 1 to
   * 10,000 characters each, at most 1,000. It is part of what is proposed and approved of a run of a plan, and a runtime
   * whose capabilities reach more than was approved drives none. Default: nothing is said, and nothing compared.
   */
  readonly scope?: readonly string[]
  /** Id of an engine build to use. Default: the newest of the source. */
  readonly engineId?: string
}

/** What the journals and receipts of plans say beside what happened. */
export interface ReceiptOptions {
  /** Journals and receipts are signed with it: `openSigner` opens a key. Default: they are not signed. */
  readonly sign?: Signer
  /**
   * Whether the digest of the state that each program ended in is recorded (about a millisecond each), so that verifying
   * compares it, and receipts name it. Default false.
   */
  readonly states?: boolean
}

/** Options of one guest. */
export interface RunOptions extends ModuleOptions {
  /** Any structured-cloneable value; the program's `input`. */
  readonly input?: unknown
  /** Names of capabilities, or grants with constraints. Default none. */
  readonly grants?: readonly Grant[]
  readonly limits?: Partial<Limits>
  /**
   * When calls that repeat themselves, and of which nothing new comes, are refused as `loop_detected`. What is left out
   * comes from `DEFAULT_LOOP_GUARD`; `false`: never. It goes on where it was when a kept run is resumed.
   */
  readonly guard?: LoopGuardRule | false
  /** Ends the guest as `failed` with code `aborted`, in the middle of a turn too. */
  readonly signal?: AbortSignal
  /** Default `auto`. */
  readonly form?: ProgramForm
  /**
   * What the source is written in. Default `auto`: what the file's name says (`.ts`, `.js`, ...); without a name,
   * JavaScript if the engine's parser takes it, else TypeScript if it looks so.
   */
  readonly language?: Language
  /** Shown in stacks. Default `program.js`, or `program.ts`. Names that begin with `caisson:` are the library's own. */
  readonly fileName?: string
  /** Whole number or 32 bytes that determine all randomness of the guest. Default: fresh from `entropy`. */
  readonly seed?: number | Uint8Array
  /**
   * Where the time of a guest begins and stands, but for what its timers wait for: milliseconds since the epoch. Not of
   * kept runs, whose records have their times. Default: the host's time.
   */
  readonly nowMs?: number
  /** Guests of different trust domains never share an instance, one after the other. Default `default`. */
  readonly domain?: string
  /** Whether the outcome carries the digest of the guest's final state (about a millisecond). Default false. */
  readonly stateDigest?: boolean
  /**
   * Keeps the run in the runtime's store under this name: its log as it goes, and checkpoints. Whatever happens to
   * the process, `resume` goes on with it. 1 to 128 characters of `A-Z a-z 0-9 . _ -`, not beginning with a dot.
   */
  readonly run?: string
  /**
   * Of a kept run: what its grants reach, in the host's own words, one text for each thing (a directory, a host, an
   * account). Kept with its start: `resume` refuses to go on with what is not among them.
   */
  readonly scope?: readonly string[]
  /**
   * What becomes of calls and timers that are pending when the value of the program is there. `wait`, the default: it
   * has completed when none is any more. `drop`: it completes at once, and the outcome says in `left` which they were.
   * `suspend`, for a kept run: it is parked with them, and `resume` waits for them.
   */
  readonly atEnd?: AtEnd | 'suspend'
  /** Suspends a kept run when the call with this number has been asked for, and before it is made. */
  readonly stopAtCall?: number
  /** Who acts: checkpoints carry it, and are restored for the same one only. Default "". */
  readonly principal?: string
  /** `secret`: the guest may see secrets, so its checkpoints are written encrypted or not at all. Default `plain`. */
  readonly label?: 'plain' | 'secret'
  /** `worker` runs the guest in a Worker, so that the host's event loop lives while it computes. Default `host`. */
  readonly thread?: 'host' | 'worker'
}

/** Options of a session: what all its turns have in common. */
export interface OpenSessionOptions
  extends ModuleOptions,
    Pick<
      RunOptions,
      'grants' | 'limits' | 'guard' | 'seed' | 'domain' | 'principal' | 'label' | 'thread' | 'language'
    > {
  /**
   * A checkpoint of a session of the same domain and principal: the guest goes on as it was then. It needs the grants
   * that it had, no fewer and no more. `seed` is not used then.
   */
  readonly from?: Uint8Array
  /** With `from`: as of `restore`. */
  readonly fork?: string
}

/** Options of one turn of a session. */
export interface TurnOptions
  extends Pick<RunOptions, 'input' | 'limits' | 'signal' | 'language' | 'fileName' | 'stateDigest'> {}

/**
 * Options of a guest that goes on from a checkpoint. The program, its input, its seed and its time come from there.
 * Grants are the ones it had, no fewer and no more; their rules are those of now.
 */
export interface RestoreOptions
  extends ModuleOptions,
    Pick<RunOptions, 'grants' | 'guard' | 'signal' | 'domain' | 'principal' | 'thread' | 'stateDigest'> {
  /**
   * What is given here counts, whatever a checkpoint or a log says. What is left out is as it was, where a `mac` key
   * says that this is authentic; otherwise none of it is taken that is wider than the runtime's own `limits`. What was
   * used before counts.
   */
  readonly limits?: Partial<Limits>
  /**
   * Gives the guest random streams of its own from here on, for a checkpoint that several guests are taken up from:
   * equal labels give equal streams, other labels independent ones. Default: it goes on with the streams that it had,
   * so that two guests of one checkpoint draw the same numbers.
   */
  readonly fork?: string
}

/** An answer that somebody gives by hand to a pending call. It passes the gate like one of the capability's. */
export type HandAnswer = { readonly id: number } & ({ readonly value: unknown } | { readonly error: unknown })

/** Options of a kept run that goes on. */
export interface ResumeOptions extends Omit<RestoreOptions, 'fork'>, Pick<RunOptions, 'stopAtCall'> {
  /** Given, it must be the newest checkpoint of the run, and the run must not have ended since: else it is refused. */
  readonly checkpoint?: Uint8Array
  /** Answers to pending calls: for calls in doubt of which somebody knows how they ended. */
  readonly answers?: readonly HandAnswer[]
  /**
   * Calls in doubt that are to be made again: by their ids, or by the digests of exactly what was asked for
   * (`callDigest`).
   */
  readonly confirm?: readonly (number | Digest)[]
  /**
   * What people decided over calls that wait for an approval: each by the digest of what was asked, as the suspended
   * outcome shows it (`pending[i].approval.digest`). Those that are not decided go on waiting.
   */
  readonly decisions?: readonly PersonDecision[]
  /** What the grants reach by now: nothing that the `scope` of the run's start did not name. Default none. */
  readonly scope?: readonly string[]
  /** Lets `scope` name what it did not name then. The next `resume` compares with the start of the run again. */
  readonly changeScope?: boolean
  /**
   * Takes the program from its start instead of from its newest checkpoint, through all that was answered: on another
   * engine build than it was parked on, or where a checkpoint is lost. Nothing that was answered is asked again, fuel
   * is counted anew, and a program that does something else now ends as `failed` with code `diverged`, with nothing changed.
   */
  readonly reexecute?: boolean
  /** Fuel on top of `limits.fuel`, or else of the limit that the run had: for one that ended `exhausted`. */
  readonly addFuel?: number
}

/** Options of a kept run that is taken again from its record: what it is for, and whose it is. */
export type RepeatOptions = Pick<
  RestoreOptions,
  'grants' | 'limits' | 'signal' | 'domain' | 'principal' | 'thread' | 'stateDigest'
> &
  Pick<ResumeOptions, 'reexecute'>
