/** The last chapter of the story: a page does again what the processes did. */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Outcome, Plan } from '../../src/entry/node.ts'
import { readProducts } from './catalogue.ts'
import { openJob } from './job.ts'
import { type Narrator, oneLine } from './narrator.ts'
import type { PackedRun } from './packed-run.ts'
import type { PageVisit } from './page-visit.ts'
import { startPriceService } from './price-service.ts'
import { seedReports } from './reports.ts'
import { LOST } from './terms.ts'
import { ToolServer } from './tool-server.ts'

/** What the processes came to. */
export interface Remembered {
  /** The program that slept when its process was killed, as it was on the disk then. */
  readonly packed: PackedRun
  /** How that ended. */
  readonly program: Outcome
  readonly plan: Plan
  /** Of the plan. */
  readonly output: unknown
}

export type Visit = Pick<PageVisit, 'browser' | 'enter' | 'repeat' | 'begin' | 'agree'>

/**
 * Lets a page repeat the program, and then run the plan, and tells whether it came to what the processes came to.
 * @param visit a browser, or why there is none
 * @returns false where it came to something else
 */
export async function visitPage(
  visit: Visit | string,
  remembered: Remembered,
  outDirectory: string,
  narrator: Narrator,
): Promise<boolean> {
  const { say, plain } = narrator
  plain()
  if (typeof visit === 'string') {
    say('browser', `left out, there is none here: ${oneLine(visit, 70)}`)
    say('', '.. install Chromium or Chrome, or set CHROMIUM_PATH, to see the run go on in a page')
    return true
  }
  const { packed, program, plan, output } = remembered
  const products = await readProducts()
  // A service that has not been asked yet, and a folder of its own: as the processes found them.
  const service = await startPriceService(products, { lost: LOST })
  const reportsDirectory = join(outDirectory, 'page-reports')
  await seedReports(reportsDirectory)
  const job = await openJob({
    origin: service.origin,
    reportsDirectory,
    database: 'when asked',
    say: () => {},
  })
  try {
    await visit.enter({ run: packed, plan, tools: new ToolServer(job.capabilities) })
    return (
      (await repeats(visit, packed, program, narrator)) &&
      (await runsPlan(visit, service.origin, output, narrator))
    )
  } finally {
    await job[Symbol.asyncDispose]()
    await service.close()
  }
}

/** The program, from the checkpoint that it had when its process was killed. */
async function repeats(
  visit: Visit,
  packed: PackedRun,
  program: Outcome,
  { say }: Narrator,
): Promise<boolean> {
  const kibibytes = ((JSON.stringify(packed).length * 3) / 4 / 1024).toFixed(0) // it is base64
  say(
    'browser',
    `${visit.browser}: a page gets the program that slept, its checkpoint and its log (${kibibytes} KiB)`,
  )
  const there = await visit.repeat()
  const value = (of: Outcome): unknown => (of.status === 'completed' ? of.value : of.status)
  const same = [
    ['result', isDeepStrictEqual(value(there), value(program))],
    ['fuel', there.usage.fuel === program.usage.fuel],
    ['state digest', there.stateDigest !== undefined && there.stateDigest === program.stateDigest],
  ] as const
  say('', '.. from that await to the end: recorded answers, at their times, in their order; no call')
  const differs = same.filter(([, equal]) => !equal).map(([name]) => name)
  if (differs.length > 0) {
    say('browser', `DIFFERENT: ${differs.join(', ')}`)
    return false
  }
  say('browser', 'the same result, the same fuel, the same state digest')
  say('digest', oneLine(there.stateDigest ?? '', 80))
  return true
}

/** The plan itself, in a tab that is closed while the person thinks, and in another one. */
async function runsPlan(visit: Visit, origin: string, output: unknown, { say }: Narrator): Promise<boolean> {
  say('browser', 'a tab runs the same plan, on IndexedDB, with the tools of a server')
  const { outcome, requests } = await visit.begin({ priceService: origin })
  if (outcome.status !== 'waiting') {
    const why = outcome.status === 'failed' ? `, as ${oneLine(outcome.error.message, 200)}` : ''
    say('browser', `DIFFERENT: it does not wait for the person, it is ${outcome.status}${why}`)
    return false
  }
  say('', `.. it waits (${requests[0]?.question ?? ''}), and the tab is closed`)
  const end = await visit.agree()
  const isSame = end.status === 'completed' && isDeepStrictEqual(end.output, output)
  say(
    'browser',
    isSame
      ? 'another tab goes on, and comes to the same report'
      : `DIFFERENT: ${oneLine(JSON.stringify(end), 200)}`,
  )
  return isSame
}
