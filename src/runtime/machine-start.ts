/** What a machine is started with, from what an embedder gave: checked before any resource is taken. */
import { CaissonError } from '../base/errors.ts'
import { SEED_BYTES, seedFromInteger } from '../isolate/randomness.ts'
import { type Limits, parseLimits } from '../machine/limits.ts'
import type { GuestCapability, GuestError, MachineStart } from '../machine/turn.ts'
import { type Unfenced, unfence } from '../program/code-fence.ts'
import type { RunOptions } from './options.ts'
import type { Platform } from './platform.ts'
import { isTime } from './sound-clock.ts'

const PAGE = 65_536
const LONE_SURROGATE = /[\ud800-\udfff]/u

/** What guests of one runtime may have. */
export interface LimitBounds {
  /** Of guests that say nothing. */
  readonly defaults: Limits
  readonly maxMemoryBytes: number
}

/** @throws CaissonError `invalid_argument`, `invalid_limit` */
export function machineStart(
  source: string,
  options: RunOptions,
  capabilities: readonly GuestCapability[],
  bounds: LimitBounds,
  platform: Platform,
): MachineStart {
  checkSource(source)
  const { form = 'auto', fileName = 'program.js' } = options
  const unfenced: Unfenced = form === 'auto' ? unfence(source) : { source }
  const { foreign } = unfenced
  return {
    source: unfenced.source,
    form,
    fileName,
    ...(foreign && { ended: { status: 'failed', error: foreignFence(foreign, fileName) } }),
    input: options.input,
    capabilities,
    limits: limitsOf(options.limits, bounds),
    seed: seedOf(options.seed, platform),
    nowMs: options.nowMs ?? startTime(platform.clock.now()),
    ...(options.atEnd === 'drop' && { atEnd: 'drop' }),
  }
}

function foreignFence({ language, line }: NonNullable<Unfenced['foreign']>, file: string): GuestError {
  return {
    name: 'SyntaxError',
    message: `the fence says ${language}; this runs JavaScript and TypeScript`,
    stack: `    at ${file}:${line}:1`,
    position: { file, line, column: 1 },
  }
}

function startTime(nowMs: number): number {
  if (isTime(nowMs)) return nowMs
  throw new CaissonError(
    'invalid_argument',
    `The clock says ${String(nowMs)}, which a guest cannot start at.`,
  )
}

/**
 * A guest is not taken up under a limit that it is beyond already.
 * @throws CaissonError `invalid_limit`
 */
export function checkFits(memoryBytes: number, limits: Limits): void {
  if (memoryBytes <= limits.memoryBytes) return
  throw new CaissonError(
    'invalid_limit',
    `Limit memoryBytes is ${limits.memoryBytes}, and the guest has ${memoryBytes} bytes of memory already.`,
    { details: { limit: 'memoryBytes', value: limits.memoryBytes, min: memoryBytes, unit: 'bytes' } },
  )
}

/**
 * Limits of a guest that goes on: those that are given, and else those that it had. What nobody vouches for (a
 * checkpoint or a log, where no key is configured) can only make them narrower than the runtime's own.
 * @param before as the checkpoint or the log says
 * @throws CaissonError `invalid_limit`
 */
export function limitsAfter(
  before: Limits,
  given: Partial<Limits> | undefined,
  bounds: LimitBounds,
  authenticated: boolean,
): Limits {
  const kept = authenticated ? before : narrower(before, bounds.defaults)
  return limitsOf({ ...kept, ...given }, bounds)
}

function narrower(a: Limits, b: Limits): Limits {
  const names = Object.keys(b) as (keyof Limits)[]
  return Object.fromEntries(names.map((name) => [name, Math.min(a[name], b[name])])) as unknown as Limits
}

/** @throws CaissonError `invalid_limit` */
export function limitsOf(given: Partial<Limits> | undefined, bounds: LimitBounds): Limits {
  const limits = given === undefined ? bounds.defaults : parseLimits(given, bounds.defaults)
  if (limits.memoryBytes > bounds.maxMemoryBytes) {
    throw new CaissonError(
      'invalid_limit',
      `Limit memoryBytes is ${limits.memoryBytes}; this runtime allows ${bounds.maxMemoryBytes} (option maxMemoryBytes).`,
      {
        details: {
          limit: 'memoryBytes',
          value: limits.memoryBytes,
          max: bounds.maxMemoryBytes,
          unit: 'bytes',
        },
      },
    )
  }
  if (limits.memoryBytes % PAGE === 0) return limits
  return { ...limits, memoryBytes: Math.floor(limits.memoryBytes / PAGE) * PAGE }
}

function checkSource(source: string): void {
  if (typeof source !== 'string') {
    throw new CaissonError('invalid_argument', 'The program must be a string of source code.')
  }
  // The engine reads UTF-8, which has no form for them: they would silently become other characters.
  const lone = source.search(LONE_SURROGATE)
  if (lone < 0) return
  throw new CaissonError(
    'invalid_argument',
    `The program has a lone surrogate at index ${lone}; write it as an escape such as "\\ud800".`,
    { details: { index: lone } },
  )
}

function seedOf(seed: RunOptions['seed'], platform: Platform): Uint8Array {
  if (seed === undefined) return platform.entropy.bytes(SEED_BYTES)
  if (typeof seed === 'number') return seedFromInteger(seed)
  if (seed instanceof Uint8Array && seed.length === SEED_BYTES) return new Uint8Array(seed)
  throw new CaissonError('invalid_argument', `A seed is a whole number from 0, or ${SEED_BYTES} bytes.`)
}
