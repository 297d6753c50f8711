/**
 * Measures one case on all its subjects, in interleaved rounds.
 *
 * 1. Every round measures every subject once, in an order that a seeded shuffle changes from round to round:
 *    whatever slows the machine, slows neighbours alike, and no subject always follows the same one.
 * 2. Each subject first runs for the warm-up time, by the CPU clock of what is timed too (compilers tier up by work
 *    done), which also sets how often it runs in a slice: as often as fits `sliceMs`, at least once.
 * 3. A slice's figure is the mean over its operations, garbage collection included: a cost that the subject caused.
 *    Garbage of the case before is collected before this one starts, never between slices: a forced collection
 *    shrinks the young generation, which made calls of quickjs-emscripten twice as slow.
 * 4. A subject that throws, in preparation or at work, leaves the case with its reason; the others go on.
 */
import { seededRandom } from './statistics.ts'
import type { Trial } from './trial.ts'

/** How long and how often to measure. Times in milliseconds. */
export interface Plan {
  readonly rounds: number
  readonly warmUpMs: number
  readonly sliceMs: number
}

/** On a busy machine a second on the wall is not a second of work: compilers get up to so many times as long. */
const MOST_WARM_UPS = 8

export const FULL_PLAN: Plan = { rounds: 21, warmUpMs: 1000, sliceMs: 40 }
export const QUICK_PLAN: Plan = { rounds: 5, warmUpMs: 200, sliceMs: 20 }

/** Wall and process clocks; replaced in tests. */
export interface Clocks {
  /** Nanoseconds of a monotonic clock. */
  readonly wallNs: () => number
  /** Nanoseconds of CPU time of this process, all threads. */
  readonly cpuNs: () => number
  readonly collectGarbage: () => void
}

const PROCESS_CLOCKS: Clocks = {
  wallNs: () => performance.now() * 1e6,
  cpuNs: () => {
    const { user, system } = process.cpuUsage()
    return (user + system) * 1e3
  },
  collectGarbage: () => globalThis.gc?.(),
}

/** A subject that takes part in a case. */
export interface Entrant {
  readonly subject: string
  readonly prepare: () => Trial | Promise<Trial>
}

/** One figure per round, each per operation. */
export interface Samples {
  readonly subject: string
  readonly wall: readonly number[]
  /** CPU nanoseconds of all threads. Missing where `run` reports its own figure: only it knows which part counts. */
  readonly cpu?: readonly number[]
  /** Runs per round. */
  readonly runs: number
}

export interface Dropout {
  readonly subject: string
  readonly reason: string
}

interface Contestant {
  readonly subject: string
  readonly trial: Trial
  readonly wall: number[]
  readonly cpu: number[]
  runs: number
  reportsItself: boolean
}

/** The message of whatever was thrown, on one line of at most 200 characters. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replace(/\s+/g, ' ').slice(0, 200)
}

interface Cost {
  readonly wall: number
  readonly cpu: number
}

async function timedRun(contestant: Contestant, clocks: Clocks): Promise<Cost> {
  const { trial } = contestant
  if (trial.before) await trial.before()
  // Reading the CPU clock costs a microsecond: outside of the wall clock, and only where `slice` cannot read it once.
  const surrounded = trial.before !== undefined || trial.after !== undefined
  const cpuStart = surrounded ? clocks.cpuNs() : 0
  const start = clocks.wallNs()
  const outcome = trial.run()
  // Not awaited when synchronous: a turn of the microtask queue costs more than the cheapest operations.
  const reported = outcome instanceof Promise ? await outcome : outcome
  const elapsed = clocks.wallNs() - start
  const cpu = surrounded ? clocks.cpuNs() - cpuStart : 0
  if (trial.after) await trial.after()
  if (reported !== undefined) contestant.reportsItself = true
  return { wall: reported ?? elapsed, cpu }
}

async function warmUp(contestant: Contestant, plan: Plan, clocks: Clocks): Promise<void> {
  const start = clocks.wallNs()
  const cpuStart = clocks.cpuNs()
  const enough = plan.warmUpMs * 1e6
  const { before, after } = contestant.trial
  const isSurrounded = before !== undefined || after !== undefined
  let runs = 0
  let last = 0
  let now = start
  let cpu = 0
  do {
    // What stands around a run is other code: it warms nothing that is timed.
    cpu += (await timedRun(contestant, clocks)).cpu
    last = clocks.wallNs() - now
    now += last
    runs++
  } while (
    now - start < enough ||
    ((isSurrounded ? cpu : clocks.cpuNs() - cpuStart) < enough && now - start < MOST_WARM_UPS * enough)
  )
  // The last run is the warmest; the mean counts compilation, and guards against a last run that was interrupted.
  const mean = Math.min(last, (now - start) / runs)
  contestant.runs = Math.max(1, Math.min(100_000, Math.round((plan.sliceMs * 1e6) / Math.max(mean, 1))))
}

async function slice(contestant: Contestant, clocks: Clocks): Promise<void> {
  const { trial, runs } = contestant
  const cpuStart = clocks.cpuNs()
  let wall = 0
  let cpu = 0
  for (let i = 0; i < runs; i++) {
    const cost = await timedRun(contestant, clocks)
    wall += cost.wall
    cpu += cost.cpu
  }
  if (!trial.before && !trial.after) cpu = clocks.cpuNs() - cpuStart
  contestant.wall.push(wall / (runs * trial.operations))
  contestant.cpu.push(cpu / (runs * trial.operations))
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const out = [...items]
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[out[i], out[j]] = [out[j] as T, out[i] as T]
  }
  return out
}

/** Runs all rounds; resolves also when every subject dropped out. */
export async function measure(
  entrants: readonly Entrant[],
  plan: Plan,
  clocks: Clocks = PROCESS_CLOCKS,
): Promise<{ readonly samples: readonly Samples[]; readonly dropouts: readonly Dropout[] }> {
  const dropouts: Dropout[] = []
  let field: Contestant[] = []

  const attempt = async (subject: string, act: () => Promise<void>): Promise<boolean> => {
    try {
      await act()
      return true
    } catch (error) {
      dropouts.push({ subject, reason: reasonOf(error) })
      return false
    }
  }

  clocks.collectGarbage()
  for (const { subject, prepare } of entrants) {
    await attempt(subject, async () => {
      const trial = await prepare()
      const contestant = { subject, trial, wall: [], cpu: [], runs: 1, reportsItself: false }
      try {
        await warmUp(contestant, plan, clocks)
      } catch (error) {
        await contestant.trial.dispose?.()
        throw error
      }
      field.push(contestant)
    })
  }

  const random = seededRandom(plan.rounds)
  for (let round = 0; round < plan.rounds; round++) {
    for (const contestant of shuffled(field, random)) {
      if (await attempt(contestant.subject, () => slice(contestant, clocks))) continue
      field = field.filter((other) => other !== contestant)
      await attempt(contestant.subject, async () => contestant.trial.dispose?.())
    }
  }
  for (const { subject, trial } of field) await attempt(subject, async () => trial.dispose?.())

  return {
    samples: field.map(({ subject, wall, cpu, runs, reportsItself }) =>
      reportsItself ? { subject, wall, runs } : { subject, wall, cpu, runs },
    ),
    dropouts,
  }
}
