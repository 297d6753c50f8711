/** Guests that go on in other processes, in a page and in an edge worker: what `npm run test:runtimes` does with more. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Stopover } from '../checkpoints/traveller/journey.ts'
import { differences, roundTrip } from '../checkpoints/traveller/round-trip.ts'
import { packTravelKit, type Stop, type TravelKit } from '../checkpoints/traveller/stops.ts'

let kit: TravelKit
let node: Stop
let page: Stop
let edge: Stop
let straight: Stopover

beforeAll(async () => {
  kit = await packTravelKit()
  node = kit.processStop('Node', process.execPath)
  ;[page, edge] = await Promise.all([kit.pageStop(inject('chromiumPath')), kit.edgeStop()])
  straight = await node.travel({ everywhere: true })
})
afterAll(async () => {
  await Promise.all([page?.close(), edge?.close()])
  kit?.dispose()
})

describe('a guest that travels', () => {
  it('arrives as one that stayed at home, by way of processes, a page and an edge worker', async () => {
    const calls = straight.waypoints.length
    expect(calls).toBeGreaterThan(12)
    const trip = await roundTrip([node, page, edge, node], calls)
    expect(differences(trip, straight)).toEqual([])
    expect(trip.hops.map(({ digests }) => digests.length > 2)).toEqual([true, true, true, true])
  })

  it('goes on in a new process from its first, a middle and its last suspension', async () => {
    const last = straight.waypoints.length - 1
    for (const at of [0, last >> 1, last]) {
      const checkpoint = straight.waypoints[at]?.checkpoint
      expect(checkpoint).toBeDefined()
      const { arrival, waypoints } = await node.travel({ checkpoint: checkpoint as string })
      expect(arrival).toEqual(straight.arrival)
      expect(waypoints).toEqual(
        straight.waypoints.slice(at).map(({ pending, stateDigest }) => ({ pending, stateDigest })),
      )
    }
  })
})
