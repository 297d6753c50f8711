/** The main job: `npm start` runs a program that nobody has read, and tells what it did. */
import { fileURLToPath } from 'node:url'
import { type Limits, type Outcome, openRuntime } from '../../src/entry/node.ts'
import { openJob } from './job.ts'
import { createNarrator, oneLine } from './narrator.ts'

const OUT = fileURLToPath(new URL('../../out/pricing-report', import.meta.url))

/** How it ended, in one line. */
function endOf(outcome: Outcome): string {
  switch (outcome.status) {
    case 'completed':
      return oneLine(JSON.stringify(outcome.value), 110)
    case 'failed':
      return oneLine(`${outcome.error.name}: ${outcome.error.message}`, 110)
    case 'exhausted':
      return oneLine(outcome.message, 110)
    case 'suspended':
      return `${outcome.pending.length} calls wait`
  }
}

/** What was used of what was allowed. */
function usageLines(
  usage: Outcome['usage'],
  limits: Pick<Limits, 'fuel' | 'memoryBytes' | 'wallMs' | 'calls'>,
): string[] {
  const million = (units: number): string => (units / 1e6).toFixed(0)
  const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1)
  const kibibytes = (bytes: number): string => (bytes / 2 ** 10).toFixed(0)
  return [
    `fuel      ${million(usage.fuel)} of ${million(limits.fuel)} million units`,
    `memory    ${mebibytes(usage.memoryBytes)} of ${mebibytes(limits.memoryBytes)} MiB`,
    `calls     ${usage.calls} of ${limits.calls}, ${kibibytes(usage.bytesIn)} KiB in, ${kibibytes(usage.bytesOut)} KiB out`,
    `time      ${(usage.wallMs / 1000).toFixed(2)} of ${limits.wallMs / 1000} s`,
  ]
}

// Whoever reads the story may leave before its end, as `head` does.
process.stdout.on('error', () => process.exit(0))

const narrator = createNarrator(
  (line) => console.log(line),
  () => performance.now(),
)
narrator.plain('A pricing report, made by a program that a model could have written and nobody has read.')
narrator.plain()
const job = await openJob({ narrator, outDirectory: OUT })
const runtime = await openRuntime({ capabilities: job.capabilities, callLog: narrator })
try {
  const lines = job.program.split('\n').length
  narrator.say('program', `program.js, ${lines} lines, in an isolate of its own (engine ${runtime.engine})`)
  for (const { capability, calls } of job.grants) {
    narrator.say('granted', `${capability}, ${calls === 1 ? 'one call' : `at most ${calls} calls`}`)
  }
  narrator.plain()
  const outcome = await runtime.run(job.program, {
    input: job.input,
    grants: job.grants,
    limits: job.limits,
    fileName: 'program.js',
  })
  narrator.plain()
  narrator.plain('What the program printed:')
  for (const { level, text } of outcome.logs)
    narrator.plain(`   console.${level.padEnd(5)}  ${oneLine(text, 100)}`)
  narrator.plain()
  narrator.say(outcome.status, endOf(outcome))
  for (const line of usageLines(outcome.usage, job.limits)) narrator.say('used', line)
  for (const { path, name, bytes } of job.artifacts()) {
    narrator.say('report', `${path ?? name} (${(bytes / 1024).toFixed(0)} KiB)`)
  }
  if (outcome.status !== 'completed') process.exitCode = 3
} finally {
  runtime.close()
  await job[Symbol.asyncDispose]()
}
