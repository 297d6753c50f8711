/**
 * A process that holds many parked guests of one program. Forked by `parked-crowd.ts`: it says how much its memory grew
 * when all are there, and the CPU time of waking some whenever it is asked to.
 */
import { type Guest, openRuntime } from '../../src/entry/node.ts'
import { LIMITS, nextStep } from './chained-guest.ts'
import type { CrowdMessage, CrowdRequest } from './parked-crowd.ts'
import { SMALL_STEPS } from './programs.ts'

const GUESTS = 10_000
/** Guests that come first, so that what the runtime needs is there before memory is looked at. */
const FIRST_GUESTS = 200
const STEPS_EACH = 2

function tell(message: CrowdMessage): void {
  process.send?.(message)
}

function residentBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage.rss()
}

const runtime = await openRuntime({ capabilities: [nextStep] })

async function start(): Promise<Guest> {
  const guest = await runtime.start(SMALL_STEPS, { form: 'script', limits: LIMITS, grants: ['bench.next'] })
  for (let i = 0; i < STEPS_EACH; i++) await step(guest)
  return guest
}

async function step(guest: Guest): Promise<void> {
  const [call] = guest.pending
  if (call === undefined) throw new Error(`a guest ended: ${JSON.stringify(guest.outcome)}`)
  await guest.settle(call.id, 1)
}

const guests: Guest[] = []
for (let i = 0; i < FIRST_GUESTS; i++) guests.push(await start())
const before = residentBytes()
while (guests.length < FIRST_GUESTS + GUESTS) guests.push(await start())
tell({ grownBytes: residentBytes() - before })

let turn = 0

async function wake({ wakes }: CrowdRequest): Promise<void> {
  const from = process.cpuUsage()
  for (let i = 0; i < wakes; i++) {
    turn = (turn + 1) % guests.length
    await step(guests[turn] as Guest)
  }
  const { user, system } = process.cpuUsage(from)
  tell({ cpuNsPerWake: ((user + system) * 1e3) / wakes })
}

// What fails ends the process, which its parent hears of.
process.on('message', (request: CrowdRequest) => void wake(request))
process.on('disconnect', () => process.exit(0))
