/** What can be done to a run, by people, by processes that die, and by the clock. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { PlanRun } from '../../../src/entry/node.ts'
import { drawnPlan } from './drawn-plans.ts'
import { ModelRun } from './model-run.ts'

type Model = Record<string, never>
type Command = fc.AsyncCommand<Model, ModelRun>

function command(name: string, run: (real: ModelRun) => Promise<unknown>): Command {
  return {
    check: () => true,
    run: async (_model, real) => {
      await run(real)
    },
    toString: () => name,
  }
}

const writes = fc.oneof(fc.nat(25), fc.constant(Number.POSITIVE_INFINITY))

const COMMANDS: readonly fc.Arbitrary<Command>[] = [
  writes.map((many) =>
    command(`go on for ${many} writes`, (real) => real.inProcess(many, (run) => real.goOn(run, false))),
  ),
  fc
    .tuple(writes, fc.nat(3), fc.constantFrom('approve' as const, 'reject' as const, 'edit' as const))
    .map(([many, which, how]) =>
      command(`${how} request ${which}, ${many} writes`, (real) =>
        real.inProcess(many, (run) => decide(run, which, how)),
      ),
    ),
  fc
    .integer({ min: -5_000, max: 5_000 })
    .map((ms) => command(`the clock jumps ${ms} ms`, async (real) => real.world.jump(ms))),
  writes.map((many) =>
    command(`cancel, ${many} writes`, (real) =>
      real.inProcess(many, (run) => run.cancel({ by: 'bob', reason: 'drawn' })),
    ),
  ),
  fc.constant(command('two go on at once', twoAtOnce)),
]

async function decide(run: PlanRun, which: number, how: 'approve' | 'reject' | 'edit'): Promise<void> {
  const open = (await run.requests()).filter(({ decided }) => decided === undefined)
  const request = open[which % Math.max(1, open.length)]
  if (request === undefined) return
  const common = { request: request.digest, by: 'ann' }
  if (how === 'reject') await run.decide({ ...common, decision: 'reject', reason: 'drawn' })
  else await run.decide({ ...common, decision: 'approve', ...(how === 'edit' && { value: 7 }) })
}

/** One of them has it at any moment; the other is told so, or comes when all is done. */
async function twoAtOnce(real: ModelRun): Promise<void> {
  const one = real.inProcess(Number.POSITIVE_INFINITY, (run) => real.goOn(run, false))
  const other = real.inProcess(Number.POSITIVE_INFINITY, (run) => real.goOn(run, false))
  await Promise.all([one, other])
}

/** Tests so many schedules. */
export async function checkSchedules(numRuns: number, seed?: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      drawnPlan(),
      fc.commands([...COMMANDS], { maxCommands: 12 }),
      async (drawn, commands) => {
        const real = new ModelRun(drawn)
        await fc.asyncModelRun(() => ({ model: {}, real }), commands)
        await real.finish()
        expect(real.world.effects).toBeDefined()
      },
    ),
    { numRuns, ...(seed !== undefined && { seed }), interruptAfterTimeLimit: 3_600_000 },
  )
}
