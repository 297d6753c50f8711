/** A guest on its way through several stops, and what it must be equal to. */
import { fromBase64 } from '../../../src/base/base64.ts'
import type { Arrival, Stopover } from './journey.ts'
import type { Stop } from './stops.ts'

export interface Hop {
  readonly stop: string
  readonly engine: string
  /** Digests of its state at this stop, beginning with how it was taken up, by the number of calls answered before. */
  readonly digests: readonly (readonly [answered: number, digest: string])[]
  /** Size of the checkpoint that it left with; undefined where it arrived. */
  readonly checkpointBytes: number | undefined
}

export interface RoundTrip {
  readonly hops: readonly Hop[]
  readonly arrival: Arrival
}

/** Sends a guest through `stops`, with a capture at each, so that its `calls` calls are answered all over the way. */
export async function roundTrip(stops: readonly Stop[], calls: number): Promise<RoundTrip> {
  const hops: Hop[] = []
  let checkpoint: string | undefined
  let answered = 0
  for (const [at, stop] of stops.entries()) {
    const isLast = at === stops.length - 1
    const here = Math.ceil((calls - answered) / (stops.length - at))
    const stopover: Stopover = await stop.travel({
      ...(checkpoint !== undefined && { checkpoint }),
      ...(!isLast && { calls: here }),
    })
    const { engine, waypoints, arrival } = stopover
    checkpoint = waypoints.at(-1)?.checkpoint
    const before = answered
    hops.push({
      stop: stop.name,
      engine,
      digests: waypoints.map(({ stateDigest }, after) => [before + after, stateDigest]),
      checkpointBytes: checkpoint === undefined ? undefined : fromBase64(checkpoint).length,
    })
    if (arrival !== undefined) return { hops, arrival }
    answered += here
  }
  throw new Error('The guest did not arrive at its last stop.')
}

/** Where a way differs from the straight one, in words; empty where it does not. */
export function differences({ hops, arrival }: RoundTrip, straight: Stopover): readonly string[] {
  const found: string[] = []
  for (const { stop, engine, digests } of hops) {
    if (engine !== straight.engine) found.push(`${stop} has engine ${engine}`)
    for (const [answered, digest] of digests) {
      const expected = straight.waypoints[answered]?.stateDigest
      if (digest !== expected) found.push(`${stop}, after ${answered} calls: ${digest}, not ${expected}`)
    }
  }
  const [here, there] = [JSON.stringify(arrival), JSON.stringify(straight.arrival)]
  if (here !== there) found.push(`it arrived as ${here}, not ${there}`)
  return found
}
