/**
 * A guest that travels: what every stop does with it, whatever runtime the stop is.
 *
 * The program holds every kind of state that an engine can hold while it waits. A stop takes the guest up from a
 * checkpoint (or starts it), answers some of its calls, and gives it on as a checkpoint, with the digest of its state.
 */
import { fromBase64, toBase64 } from '../../../src/base/base64.ts'
import { sha256 } from '../../../src/base/digest.ts'
import {
  CaissonError,
  type Capability,
  capability,
  type Guest,
  type Outcome,
  type Runtime,
  type RuntimeOptions,
} from '../../../src/entry/exports.ts'
import { EVERY_FEATURE, EVERY_FEATURE_GRANTS } from '../../../src/isolate/every-feature.testkit.ts'
import { encodeCanonical } from '../../../src/values/encode-canonical.ts'

/** What a stop is told. Plain JSON, as is `Stopover`. */
export interface Leg {
  /** Of the stop before, in base64; left out, the guest starts here. */
  readonly checkpoint?: string
  /** How many calls are answered here; left out, all until the guest ends. */
  readonly calls?: number
  /** Whether a checkpoint is taken before every call, and not only at the end of the leg. */
  readonly everywhere?: boolean
}

/** Where the guest is between two calls. */
export interface Waypoint {
  /** Ids of the calls that it waits for. */
  readonly pending: readonly number[]
  readonly stateDigest: string
  /** In base64; left out where none was taken. */
  readonly checkpoint?: string
}

/** What must be equal whatever way the guest took. */
export interface Arrival {
  readonly status: Outcome['status']
  /** Digest of the canonical bytes of its value. */
  readonly value: string
  readonly fuel: number
  readonly calls: number
  readonly stateDigest: string | undefined
}

export interface Stopover {
  readonly engine: string
  /** Where the guest was: when it was taken up, and after each call that was answered here. */
  readonly waypoints: readonly Waypoint[]
  /** Given when it came to its end here. */
  readonly arrival?: Arrival
}

const world: readonly Capability[] = [
  capability({
    name: 'world.ask',
    description: 'Adds one',
    effect: 'read',
    invoke: (args: unknown) => (args as { i: number }).i + 1,
  }),
  capability({
    name: 'world.fail',
    description: 'Fails',
    effect: 'read',
    expose: ['denied'],
    invoke: () => {
      throw new CaissonError('denied', 'No.')
    },
  }),
]

/** The same world at the same time at every stop. */
export const JOURNEY: RuntimeOptions = {
  capabilities: world,
  clock: { now: () => Date.UTC(2026, 0, 1), monotonic: () => performance.now() },
}

const OPTIONS = { grants: EVERY_FEATURE_GRANTS, stateDigest: true }

/** Travels one leg. */
export async function travel(runtime: Runtime, leg: Leg): Promise<Stopover> {
  const { checkpoint, calls = Number.POSITIVE_INFINITY, everywhere = false } = leg
  const guest =
    checkpoint === undefined
      ? await runtime.start(EVERY_FEATURE, { ...OPTIONS, seed: 1 })
      : await runtime.restore(fromBase64(checkpoint), OPTIONS)
  const waypoints: Waypoint[] = []
  for (let answered = 0; ; answered += 1) {
    if (guest.outcome !== undefined) {
      return { engine: runtime.engine, waypoints, arrival: arrivalOf(guest.outcome) }
    }
    waypoints.push(await waypointOf(guest, everywhere || answered === calls))
    const [first] = guest.pending
    if (answered === calls || first === undefined) break
    await guest.invoke(first.id)
  }
  guest.dispose()
  return { engine: runtime.engine, waypoints }
}

async function waypointOf(guest: Guest, captured: boolean): Promise<Waypoint> {
  return {
    pending: guest.pending.map(({ id }) => id),
    ...(captured && { checkpoint: toBase64(await guest.checkpoint()) }),
    stateDigest: await guest.stateDigest(),
  }
}

function arrivalOf(outcome: Outcome): Arrival {
  return {
    status: outcome.status,
    value: sha256(encodeCanonical(outcome.status === 'completed' ? outcome.value : outcome.status)),
    fuel: outcome.usage.fuel,
    calls: outcome.usage.calls,
    stateDigest: outcome.stateDigest,
  }
}
