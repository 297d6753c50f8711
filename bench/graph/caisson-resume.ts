/**
 * Going on with a run that was interrupted: from a new runtime, up to where its next call is made. The run is looked at
 * and confirmed, as whoever goes on must do.
 */
import {
  type Capability,
  capability,
  definePlan,
  openRuntime,
  type Plan,
  type PlanNode,
  type RunStore,
  type Runtime,
} from '../../src/entry/node.ts'
import type { Trial } from '../harness/trial.ts'
import { approvedRun, BY, type Kept } from './caisson-chains.ts'
import { cpuNs } from './caisson-trials.ts'
import { stepNames } from './chain.ts'

const RUN = 'interrupted'
const PAGE_CHARACTERS = 20_000
/** Few and many calls, for how the cost grows. */
const FEW = 10
const MANY = 1_000

const FORMAT = { format: 'plan/1', name: 'pages', version: '1', grants: ['bench.page'] } as const

/** A program that reads so many pages and one more. */
export function pagesProgram(calls: number): Plan {
  const source = `let sum = 0
for (let i = 0; i <= ${calls}; i += 1) sum += (await bench.page({ i })).length
return sum`
  const limits = {
    fuel: 2 ** 52,
    calls: 2 * calls + 10,
    bytesIn: 2 ** 31,
    bytesOut: 2 ** 31,
    wallMs: 600_000,
  }
  return { ...FORMAT, nodes: { read: { kind: 'program', source, grants: ['bench.page'], limits } } }
}

/** As many nodes, one after the other, that read a page each, and one more. */
export function pagesSteps(calls: number): Plan {
  const names = stepNames(calls + 1)
  const nodes = names.map((name, i): [string, PlanNode] => {
    const before = names[i - 1]
    const input = { i, before: before === undefined ? null : { $from: `${before}/number` } }
    return [name, { kind: 'call', capability: 'bench.page', input }]
  })
  return { ...FORMAT, nodes: Object.fromEntries(nodes) }
}

/** Answers so many calls; the next one is never answered, and tells that it was made. */
class Pages {
  readonly #calls: number
  #reached: (() => void) | undefined

  constructor(calls: number) {
    this.#calls = calls
  }

  get capability(): Capability {
    return capability({
      name: 'bench.page',
      description: 'A page of text',
      effect: 'read',
      timeoutMs: 600_000,
      invoke: async (input) => this.#answer((input as { readonly i: number }).i),
    })
  }

  async #answer(i: number): Promise<unknown> {
    if (i < this.#calls) return { number: i, text: `${i} `.padEnd(PAGE_CHARACTERS, `page ${i} `), length: i }
    this.#reached?.()
    return new Promise(() => {})
  }

  /** Resolves when the call that is not answered is made. */
  reached(): Promise<void> {
    return new Promise((resolve) => {
      this.#reached = resolve
    })
  }
}

/** Runs until the call that is not answered, then is brought to rest. */
async function interrupt(pages: Pages, runtime: Runtime, begin: (signal: AbortSignal) => Promise<void>) {
  const stop = new AbortController()
  const reached = pages.reached()
  const began = begin(stop.signal)
  await began
  const run = await runtime.planRun(RUN)
  const outcome = run.outcome()
  await Promise.race([
    reached,
    outcome.then((ended) => {
      throw new Error(`the run did not get there: ${JSON.stringify(ended)}`)
    }),
  ])
  return async (): Promise<void> => {
    stop.abort()
    const { status } = await outcome
    if (status !== 'interrupted') throw new Error(`the run is ${status}`)
    await runtime.close()
  }
}

class InterruptedRun {
  readonly #pages: Pages
  readonly #store: RunStore
  #runtime: Runtime | undefined
  #rest: (() => Promise<void>) | undefined

  private constructor(pages: Pages, store: RunStore) {
    this.#pages = pages
    this.#store = store
  }

  static async create({ store }: Kept, document: Plan, calls: number): Promise<InterruptedRun> {
    const pages = new Pages(calls)
    const made = new InterruptedRun(pages, store)
    const runtime = await made.#open()
    const plan = definePlan(document)
    const rest = await interrupt(pages, runtime, async (signal) => {
      const run = await approvedRun(runtime, plan, null, RUN)
      await run.start({ ...BY, signal })
    })
    await rest()
    return made
  }

  #open(): Promise<Runtime> {
    return openRuntime({ capabilities: [this.#pages.capability], store: this.#store })
  }

  async before(): Promise<void> {
    this.#runtime = await this.#open()
  }

  /** Up to the call. */
  async goOn(): Promise<void> {
    const runtime = this.#runtime
    if (runtime === undefined) throw new Error('no runtime was opened')
    this.#rest = await interrupt(this.#pages, runtime, async (signal) => {
      const run = await runtime.planRun(RUN)
      const { point } = await run.view()
      await run.resume({ ...BY, point, signal })
    })
  }

  async after(): Promise<void> {
    await this.#rest?.()
  }
}

export async function resumeTrial(kept: Kept, plan: (calls: number) => Plan, calls: number): Promise<Trial> {
  const run = await InterruptedRun.create(kept, plan(calls), calls)
  return {
    operations: 1,
    before: () => run.before(),
    run: async () => {
      await run.goOn()
      return undefined
    },
    after: () => run.after(),
    dispose: kept.remove,
  }
}

async function cpuOfGoingOn(run: InterruptedRun): Promise<number> {
  await run.before()
  const before = cpuNs()
  await run.goOn()
  const cpu = cpuNs() - before
  await run.after()
  return cpu
}

/** How many times the cost after few calls that after many is. */
export async function resumeGrowthTrial(keep: () => Kept): Promise<Trial> {
  const kept = [keep(), keep()] as const
  const few = await InterruptedRun.create(kept[0], pagesProgram(FEW), FEW)
  const many = await InterruptedRun.create(kept[1], pagesProgram(MANY), MANY)
  return {
    operations: 1,
    run: async () => (await cpuOfGoingOn(many)) / (await cpuOfGoingOn(few)),
    dispose: async () => {
      for (const { remove } of kept) await remove()
    },
  }
}
