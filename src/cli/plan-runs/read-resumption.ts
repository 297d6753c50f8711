/** `--confirm`, `--answer` and `--add-…` of `caisson resume` for a run of a plan. */
import type { Digest } from '../../base/digest.ts'
import { clipText } from '../../base/escape-text.ts'
import type { DoubtAnswer } from '../../graph/run/doubts.ts'
import type { ResumePlanOptions } from '../../runtime/plans/plan-run.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { Flag, GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { readInput } from '../run/read-input.ts'
import { isDigest } from '../units/is-digest.ts'
import { parseCount } from '../units/parse-count.ts'
import { parseDuration } from '../units/parse-duration.ts'
import { parseSize } from '../units/parse-size.ts'
import { readBy } from './who.ts'

/** `publish`, `enrich/3/lookup`, and of a program with several calls in doubt `sum#2`. */
const NODE = /^([A-Za-z0-9/-]{1,2000})(?:#(\d{1,15}))?$/

/** More of the budget of a plan; `--add-fuel` is a flag of programs too. */
export const MORE_BUDGET: readonly Flag[] = [
  { name: 'add-calls', value: 'N', help: 'Of a run of a plan: calls on top of its budget.' },
  { name: 'add-steps', value: 'N', help: 'Of a run of a plan: attempts of nodes on top of its budget.' },
  { name: 'add-active', value: '5m', help: 'Of a run of a plan: time at work on top of its budget.' },
  { name: 'add-wall', value: '1h', help: 'Of a run of a plan: time from its start on top of its budget.' },
  { name: 'add-bytes', value: '1MiB', help: 'Of a run of a plan: bytes in and out on top of its budget.' },
  {
    name: 'add-unit',
    value: 'UNIT=N',
    repeatable: true,
    help: 'Of a run of a plan: so much of a unit of costs on top of its budget, such as cents=50.',
  },
]

/** @throws CliError usage, refused input for a file with malformed content */
export async function readResumption(
  given: GivenFlags,
  io: CliIo,
): Promise<Omit<ResumePlanOptions, 'signal'>> {
  const by = readBy(given)
  const answers: DoubtAnswer[] = []
  for (const text of given.values('answer')) answers.push(await readAnswer(text, by, io))
  const more = readMore(given)
  const point = readPoint(given)
  return {
    by,
    answers,
    ...(point !== undefined && { point }),
    ...(Object.keys(more).length > 0 && { more }),
  }
}

function readPoint(given: GivenFlags): Digest | undefined {
  const [text, ...others] = given.values('confirm')
  if (text === undefined) return undefined
  if (others.length === 0 && isDigest(text)) return text
  throw usage(
    `--confirm takes the point at which a run of a plan stands, not "${clipText(text, 80)}".`,
    'caisson show RUN tells the point.',
  )
}

async function readAnswer(text: string, by: string, io: CliIo): Promise<DoubtAnswer> {
  const split = text.indexOf('=')
  const [, node, call] = NODE.exec(text.slice(0, Math.max(0, split))) ?? []
  const said = text.slice(split + 1)
  if (node === undefined) {
    throw usage(
      `--answer takes a node and what became of its call, not "${clipText(text, 80)}".`,
      `For example --answer publish='{"id": 7}', --answer publish=again, --answer publish=skip.`,
    )
  }
  const whose = { node, by, ...(call !== undefined && { call: Number(call) }) }
  if (said === 'again') return { ...whose, happened: false }
  if (said === 'skip') return { ...whose, skip: true }
  return { ...whose, happened: true, value: await readInput(said, io, `--answer ${node}`) }
}

type More = NonNullable<ResumePlanOptions['more']>

function readMore(given: GivenFlags): More {
  const amount = (flag: string, parse: (flag: string, text: string) => number): number | undefined => {
    const text = given.value(flag)
    return text === undefined ? undefined : parse(flag, text)
  }
  const count = (flag: string, text: string): number => parseCount(flag, text, '1000')
  const parts = {
    fuel: amount('add-fuel', count),
    calls: amount('add-calls', count),
    steps: amount('add-steps', count),
    activeMs: amount('add-active', parseDuration),
    wallMs: amount('add-wall', parseDuration),
    bytes: amount('add-bytes', parseSize),
  }
  const units = given.values('add-unit').map((text) => {
    const split = text.lastIndexOf('=')
    if (split < 1)
      throw usage(`--add-unit takes UNIT=N, not "${clipText(text, 80)}".`, 'For example --add-unit cents=50.')
    return [text.slice(0, split), count('add-unit', text.slice(split + 1))] as const
  })
  const known = Object.entries(parts).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(known), ...(units.length > 0 && { units: Object.fromEntries(units) }) }
}

function usage(message: string, hint: string): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint })
}
