/**
 * The main job from start to end: a plan is proposed and approved, a process that runs it is killed in mid-await, a second
 * one goes on from exactly the point that a person saw, the person decides over what is published, and the record of it
 * all is verified. A page in a browser does the same again, from a checkpoint and from the plan.
 *
 * Each of these must hold, or the story ends with an error:
 * 1. No answer of the price service is asked for twice, whoever died.
 * 2. The page repeats the program with the same value, fuel and state digest.
 * 3. The plan in the page comes to the same report.
 */
import { rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import {
  CaissonError,
  openRuntime,
  type PlanRun,
  type RunHead,
  type RunStore,
  type Runtime,
} from '../../src/entry/node.ts'
import { readProducts } from './catalogue.ts'
import { openJob } from './job.ts'
import type { JobOrder } from './job-events.ts'
import { startJob } from './job-run.ts'
import { type Narrator, oneLine, shortUrl } from './narrator.ts'
import { packRun } from './packed-run.ts'
import { openPageVisit } from './page-visit.ts'
import { readPlan } from './plan-source.ts'
import { type PriceAnswer, startPriceService } from './price-service.ts'
import { seedReports } from './reports.ts'
import { short, tellJob, tellOutcome, tellView } from './tell-run.ts'
import { LOST, MODEL, PERSON, PROGRAM_GRANTS, REPORT, RUN } from './terms.ts'
import { type Remembered, visitPage } from './visit-page.ts'
import { withChangedByte } from './watched-store.ts'

export interface StoryOptions {
  readonly narrator: Narrator
  /** Directory for the report and for the store of the run; created where it is missing. */
  readonly outDirectory: string
}

/** How long a program may sleep before its process is killed. */
const ASLEEP_MS = 300

/** What the chapters share. */
interface Stage {
  readonly narrator: Narrator
  readonly store: RunStore
  readonly runtime: Runtime
  readonly order: Omit<JobOrder, 'act' | 'from' | 'point'>
  /** What the price service answered. */
  readonly answers: readonly PriceAnswer[]
}

/** @returns whether all went as it must */
export async function tellStory({ narrator, outDirectory }: StoryOptions): Promise<boolean> {
  const { say, plain } = narrator
  const storeDirectory = join(outDirectory, 'runs')
  const reportsDirectory = join(outDirectory, 'reports')
  for (const folder of [storeDirectory, reportsDirectory, join(outDirectory, 'page-reports')])
    await rm(folder, { recursive: true, force: true })
  plain('A pricing report, as a plan that a model could have written: its programs have been read by nobody.')
  plain('The process that runs it will be killed. Another one goes on, and a browser does it again.')
  plain()
  await seedReports(reportsDirectory)
  const answers: PriceAnswer[] = []
  const service = await startPriceService(await readProducts(), {
    lost: LOST,
    onAnswer: (answer) => {
      answers.push(answer)
      say('price service', `${shortUrl(answer.url)} -> ${answer.status}`)
    },
  })
  say('price service', `${service.origin}, asks for a pause after six requests, and has lost some prices`)
  const job = await openJob({ origin: service.origin, reportsDirectory, database: 'when asked', say })
  const store = await openDirectoryRunStore(storeDirectory)
  const runtime = await openRuntime({ capabilities: job.capabilities, store })
  const order = { origin: service.origin, reportsDirectory, storeDirectory }
  const stage: Stage = { narrator, store, runtime, order, answers }
  const opening = openPageVisit().catch(reasonOf)
  try {
    const run = await propose(stage)
    const asleep = await startAndKill(stage, run)
    await confirmAndGoOn(stage, run)
    const output = await decide(stage, run)
    checkServiceAskedOnce(stage)
    const verified = await verify(stage)
    const remembered = await remember(stage, asleep, output, run)
    const alike = await visitPage(await opening, remembered, outDirectory, narrator)
    plain()
    say('report', shortPath(join(reportsDirectory, REPORT)))
    return verified && alike
  } finally {
    await runtime.close()
    await store.close()
    await job[Symbol.asyncDispose]()
    const visit = await opening
    if (typeof visit === 'object') await visit.close()
    await service.close()
  }
}

/** The model proposes; a person reads what, and approves exactly that. */
async function propose({ runtime, order, narrator }: Stage): Promise<PlanRun> {
  const { say, plain } = narrator
  const plan = await readPlan()
  const { name, version, grants = [], nodes } = plan.plan
  const run = await runtime.propose(plan, { by: MODEL, run: RUN, input: { priceService: order.origin } })
  const { request, budget } = await run.view()
  say(
    'proposed',
    `by ${MODEL}: ${name} ${version}, ${Object.keys(nodes).length} nodes, ${short(plan.digest)}`,
  )
  for (const grant of grants) {
    const { capability, calls } = typeof grant === 'string' ? { capability: grant, calls: undefined } : grant
    say(
      'may call',
      `${capability}${calls === undefined ? '' : `, at most ${calls === 1 ? 'once' : `${calls} times`}`}`,
    )
  }
  say(
    'may spend',
    `${(budget?.fuel ?? 0) / 1e6} million units of fuel, ${budget?.calls} calls, ${budget?.steps} steps`,
  )
  try {
    await run.start({ by: PERSON })
    throw new Error('It started without an approval.')
  } catch (error) {
    if (!CaissonError.is(error, 'invalid_transition')) throw error
  }
  await run.approve({ by: PERSON, digest: request })
  say('approved', `by ${PERSON}: exactly ${short(request)}, plan, input and tools`)
  plain()
  return run
}

/** What slept when its process was killed. */
interface Asleep {
  readonly run: string
  readonly head: RunHead
}

/** Starts the run, and kills its process while a program waits for the price service. */
async function startAndKill({ order, narrator, store }: Stage, run: PlanRun): Promise<Asleep> {
  const { say, plain } = narrator
  const { events: from } = await run.view()
  const job = startJob({ ...order, act: 'start', from }, (event) => {
    tellJob(event, narrator)
    if (event.type === 'call' && event.capability === 'clock.sleep') setTimeout(job.kill, ASLEEP_MS)
  })
  say('process 1', `pid ${job.pid} runs it; all that happens is on the disk before anything follows from it`)
  const { outcome } = await job.ended
  if (outcome !== undefined)
    throw new Error(`The process ended before it could be killed: ${outcome.outcome.status}.`)
  say('SIGKILL', 'process 1 is gone, in mid-await: a program slept, as the 429 had asked')
  plain()
  for (const name of await store.runs()) {
    const head = name.startsWith(`${RUN}.`) ? await store.head(name) : undefined
    if (head !== undefined && new TextDecoder().decode(head.summary).includes('clock.sleep'))
      return { run: name, head }
  }
  throw new Error('The killed process left no program that sleeps.')
}

/** A person looks where the run stands, confirms exactly that, and a second process goes on. */
async function confirmAndGoOn({ order, narrator }: Stage, run: PlanRun): Promise<void> {
  const { say } = narrator
  const view = await run.view()
  tellView(view, narrator)
  const { point, events: from } = view
  const job = startJob({ ...order, act: 'go on', point, from }, (event) => tellJob(event, narrator))
  say('process 2', `pid ${job.pid} goes on, from the point that ${PERSON} saw`)
  const { outcome } = await job.ended
  if (outcome?.outcome.status !== 'waiting')
    throw new Error(`It does not wait: ${JSON.stringify(outcome?.outcome)}`)
  narrator.plain()
}

/** The person is shown what would change, and decides over exactly that. @returns what the run gives */
async function decide({ order, narrator }: Stage, run: PlanRun): Promise<unknown> {
  const { say, textWidth } = narrator
  const [asked] = await run.requests()
  if (asked === undefined) throw new Error('Nobody is asked.')
  const { question = '', digest, args } = asked
  say('asked', question)
  const { changes } = args as { readonly changes: readonly string[] }
  for (const line of changes) say('', `.. ${oneLine(line, textWidth - 3)}`)
  await run.decide({ request: digest, by: PERSON, decision: 'approve', comment: 'looks right' })
  say('decided', `by ${PERSON}: yes, over exactly ${short(digest)}`)
  const { events: from } = await run.view()
  const job = startJob({ ...order, act: 'go on', from }, (event) => tellJob(event, narrator))
  say('process 3', `pid ${job.pid} goes on`)
  const { outcome } = await job.ended
  if (outcome?.outcome.status !== 'completed')
    throw new Error(`It is not completed: ${JSON.stringify(outcome?.outcome)}`)
  tellOutcome(outcome.outcome, await run.view(), narrator)
  return outcome.outcome.output
}

/** Who asks again for what was answered has lost something. */
function checkServiceAskedOnce({ answers, narrator }: Stage): void {
  const answered = answers.filter(({ status }) => status === 200).map(({ url }) => url)
  const twice = answered.filter((url, at) => answered.indexOf(url) !== at)
  if (twice.length > 0) throw new Error(`Asked again for what was answered: ${twice.join(', ')}`)
  narrator.say('asked twice', `of the ${answered.length} answers of the price service: none`)
}

/** Everything is done again from the record alone; and a record with one changed byte is found out. */
async function verify({ runtime, store, order, narrator }: Stage): Promise<boolean> {
  const { say } = narrator
  const { ok, events, executed, difference } = await runtime.verify(RUN)
  if (!ok) {
    say('verify', `DIFFERENT: ${oneLine(difference?.message ?? '', narrator.textWidth)}`)
    return false
  }
  say('verified', `${events} events, ${executed} programs executed again: the same fuel, the same digests`)
  const at = Math.floor(events / 2)
  const job = await openJob({ ...order, database: 'when asked', say: () => {} })
  const forger = await openRuntime({ capabilities: job.capabilities, store: withChangedByte(store, RUN, at) })
  const forged = await forger.verify(RUN)
  await forger.close()
  await job[Symbol.asyncDispose]()
  if (forged.ok) throw new Error('A changed byte was not found out.')
  const changed = `.. and with one byte of entry ${at} changed: `
  say('', changed + oneLine(forged.difference?.message ?? '', narrator.textWidth - changed.length))
  return true
}

/** What the page has to come to. */
async function remember(
  { runtime, store }: Stage,
  { run, head }: Asleep,
  output: unknown,
  plan: PlanRun,
): Promise<Remembered> {
  const program = await runtime.repeat(run, { grants: PROGRAM_GRANTS, stateDigest: true })
  return { packed: await packRun(store, run, head), program, plan: plan.plan, output }
}

function shortPath(path: string): string {
  const fromHere = relative('.', path)
  return fromHere.startsWith('..') ? path : fromHere
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}
