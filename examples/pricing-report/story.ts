/**
 * The main job from start to end: a process runs the program and is killed in mid-await, a second one goes on, and a
 * page in a browser does the same from the same checkpoint.
 *
 * 1. A call whose answer was recorded is not made again, by nobody: counted here, and an end with an error otherwise.
 * 2. The page must end with the value, the fuel and the state digest of the process: an end with an error otherwise.
 */
import { rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import type { Outcome, RunHead, RunStore } from '../../src/entry/node.ts'
import { readProducts } from './catalogue.ts'
import type { JobEvent, JobOrder } from './job-events.ts'
import { type JobEnd, startJob } from './job-run.ts'
import { type Narrator, oneLine } from './narrator.ts'
import { packRun } from './packed-run.ts'
import { openPageVisit, type PageVisit } from './page-visit.ts'
import { startPriceService } from './price-service.ts'
import { readProgram } from './program-source.ts'
import { repeatInPage } from './repeat-in-page.ts'
import { CHECKPOINT_EVERY, GRANTS, LIMITS, RUN } from './terms.ts'

export interface StoryOptions {
  readonly narrator: Narrator
  /** Directory for the report and for the store of the run; created where it is missing. */
  readonly outDirectory: string
}

/** How long the program may sleep before its process is killed. */
const ASLEEP_MS = 300

/** @returns whether all went as it must */
export async function tellStory({ narrator, outDirectory }: StoryOptions): Promise<boolean> {
  const { say, plain } = narrator
  const storeDirectory = join(outDirectory, 'runs')
  await rm(storeDirectory, { recursive: true, force: true })
  plain('A pricing report, made by a program that a model could have written and nobody has read.')
  plain('The process that runs it will be killed. A second one goes on, and a browser does it again.')
  plain()
  const service = await startPriceService(await readProducts())
  say('price service', `${service.origin}, asks for a pause after six requests`)
  let opening: Promise<PageVisit | string> | undefined
  try {
    const order = { origin: service.origin, outDirectory, storeDirectory }
    const first = await beginAndKill({ ...order, act: 'begin' }, narrator)
    const store = await openDirectoryRunStore(storeDirectory)
    try {
      const head = await store.head(RUN)
      if (head === undefined) throw new Error('The killed process left nothing.')
      await tellRemains(store, head, first, narrator)
      // Meanwhile: neither waits for the other.
      opening = openPageVisit().catch(reasonOf)
      const second = await goOn({ ...order, act: 'go on' }, first, narrator)
      const { outcome, artifacts } = second
      tellOutcome(outcome, narrator)
      const alike = await repeatInPage(await opening, await packRun(store, RUN, head), outcome, narrator)
      plain()
      for (const { path, bytes } of artifacts) {
        say('report', `${shortPath(path)} (${(bytes / 1024).toFixed(0)} KiB)`)
      }
      return outcome.status === 'completed' && alike
    } finally {
      await store.close()
    }
  } finally {
    const visit = await opening
    if (typeof visit === 'object') await visit.close()
    await service.close()
  }
}

/** Begins the run, and kills its process while the program waits for the price service. */
async function beginAndKill(order: JobOrder, narrator: Narrator): Promise<JobEnd> {
  const { say, plain } = narrator
  const { fileName, lines, modules } = await readProgram()
  const files = `program/${fileName} and ${Object.keys(modules).length} modules`
  const job = startJob(order, (event) => {
    if (event.type === 'ready') {
      say('program', `${files}, ${lines} lines of TypeScript, as they are written`)
      say('isolate', `one of its own (engine ${event.engine})`)
      for (const { capability, calls } of GRANTS) {
        say('granted', `${capability}, ${calls === 1 ? 'one call' : `at most ${calls} calls`}`)
      }
      plain()
    } else {
      tellEvent(event, narrator)
    }
    if (event.type === 'intent' && event.record.capability === 'clock.sleep') setTimeout(job.kill, ASLEEP_MS)
  })
  say('process 1', `pid ${job.pid}; a checkpoint every ${CHECKPOINT_EVERY} answers, every call in a log`)
  const end = await job.ended
  if (end.outcome !== undefined) {
    throw new Error(
      `The process ended before it could be killed: ${endOf(end.outcome.outcome, narrator.textWidth)}`,
    )
  }
  say('SIGKILL', 'process 1 is gone, in mid-await: the program slept, as the 429 had asked')
  return end
}

async function tellRemains(
  store: RunStore,
  { chain }: RunHead,
  { answered, open }: JobEnd,
  { say, plain }: Narrator,
): Promise<void> {
  const blobs = await Promise.all(chain.map((id) => store.getBlob(id)))
  const kibibytes = blobs.reduce((sum, blob) => sum + (blob?.length ?? 0), 0) / 1024
  say(
    'on the disk',
    `the checkpoint (${kibibytes.toFixed(0)} KiB); a log with ${answered.size} answers, ${open.length} call without`,
  )
  plain()
}

/** A second process, which knows nothing but the store. */
async function goOn(
  order: JobOrder,
  first: JobEnd,
  narrator: Narrator,
): Promise<NonNullable<JobEnd['outcome']>> {
  const { say } = narrator
  const job = startJob(order, (event) => {
    if (event.type !== 'resumed') {
      tellEvent(event, narrator)
      return
    }
    const fromLog = event.answersRepeated
    say(
      'replayed',
      `${first.answered.size - fromLog} answers are in the checkpoint, ${fromLog} come from the log: no call for them`,
    )
    say('', '.. the sleep has no answer in the log; it changes nothing, so it is made again')
    for (const intent of first.open) narrator.intent(intent)
  })
  say('process 2', `pid ${job.pid} takes the run up at that await`)
  const { outcome, made } = await job.ended
  if (outcome === undefined) throw new Error('The second process did not come to an end.')
  const twice = [...made].filter((id) => first.answered.has(id))
  if (twice.length > 0) throw new Error(`Calls ${twice.join(', ')} were made again.`)
  const again = [...made].filter((id) => first.made.has(id)).length
  const cutOff = first.made.size - first.answered.size
  say(
    'calls',
    `process 1 made ${first.made.size} and has ${first.answered.size} answers: its end cut off ${cutOff}`,
  )
  say(
    '',
    `process 2 made ${made.size}: what was cut off once more (${again}), and ${made.size - again} new ones`,
  )
  say('', `made twice, of the ${first.answered.size} that were answered: none`)
  return outcome
}

function tellEvent(event: JobEvent, narrator: Narrator): void {
  switch (event.type) {
    case 'say':
      narrator.say(event.topic, event.text)
      break
    case 'intent':
      narrator.intent(event.record)
      break
    case 'result':
      narrator.result(event.record)
      break
    case 'checkpoint':
      narrator.say('checkpoint', `${(event.bytes / 1024).toFixed(1)} KiB, on the disk`)
      break
    case 'ready':
    case 'resumed':
    case 'outcome':
      break // told where they matter
  }
}

function tellOutcome(outcome: Outcome, { say, plain, textWidth }: Narrator): void {
  plain()
  plain('What the program printed, in both processes:')
  for (const { level, text } of outcome.logs)
    plain(`   console.${level.padEnd(5)}  ${oneLine(text, textWidth)}`)
  plain()
  say(outcome.status, endOf(outcome, textWidth))
  for (const line of usageLines(outcome.usage)) say('used', line)
}

/** How it ended, in one line. */
function endOf(outcome: Outcome, width: number): string {
  switch (outcome.status) {
    case 'completed':
      return oneLine(JSON.stringify(outcome.value), width)
    case 'failed':
      return oneLine(`${outcome.error.name}: ${outcome.error.message}`, width)
    case 'exhausted':
      return oneLine(outcome.message, width)
    case 'suspended':
      return `${outcome.pending.length} calls wait`
  }
}

/** What was used of what was allowed. */
function usageLines(usage: Outcome['usage']): string[] {
  const million = (units: number): string => (units / 1e6).toFixed(0)
  const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)
  const kibibytes = (bytes: number): string => (bytes / 2 ** 10).toFixed(0)
  return [
    `fuel      ${million(usage.fuel)} of ${million(LIMITS.fuel)} million units`,
    `memory    ${mebibytes(usage.memoryBytes)} of ${mebibytes(LIMITS.memoryBytes)} MiB`,
    `calls     ${usage.calls} of ${LIMITS.calls}, ${kibibytes(usage.bytesIn)} KiB in, ${kibibytes(usage.bytesOut)} KiB out`,
    `time      ${(usage.wallMs / 1000).toFixed(2)} of ${LIMITS.wallMs / 1000} s, over both processes`,
  ]
}

function shortPath(path: string): string {
  const fromHere = relative('.', path)
  return fromHere.startsWith('..') ? path : fromHere
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}
