/**
 * What was proposed, whole: what the plan does, may call and may spend, the texts of its programs, its input and how its
 * tools describe themselves. `plan propose` and `show` tell the same, as whoever approves says yes to all of it.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { escapeText } from '../../base/escape-text.ts'
import type { Plan, Program } from '../../graph/plan/plan.ts'
import { codeOf } from '../../graph/plan/plan-code.ts'
import type { PlanGuest } from '../../runtime/plans/plan-guests.ts'
import type { PlanRun } from '../../runtime/plans/plan-run.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import type { CliOutput } from '../cli-io.ts'
import { planTree } from '../plan/plan-tree.ts'
import { styleFor } from '../render/style.ts'
import { textWidth } from '../render/text-width.ts'
import { scopeTexts } from '../run/right-scope.ts'
import { valueField } from './request-lines.ts'

const MOST_INPUT_LINES = 200
const MOST_PROGRAM_LINES = 2_000
const LABEL = 11

export interface Proposal {
  readonly plan: Plan
  /** Of the plan. */
  readonly digest: Digest
  readonly input: unknown
  /** Of how each tool describes itself, by its name. */
  readonly tools: Readonly<Record<string, Digest>>
  /** What they reach: directories and hosts. */
  readonly scope: readonly string[]
  /** Its WebAssembly. */
  readonly guests: readonly PlanGuest[]
}

/** As the run has it written down. @throws CaissonError what reading throws */
export async function readProposed(run: PlanRun): Promise<Proposal> {
  for await (const { event } of run.events({ until: 'now', types: ['proposed'] })) {
    if (event.type !== 'proposed') continue
    return {
      plan: run.plan,
      digest: run.digest,
      input: await inputOf(run),
      tools: event.tools,
      scope: event.scope ?? [],
      guests: await run.guests(),
    }
  }
  return { plan: run.plan, digest: run.digest, input: null, tools: {}, scope: [], guests: [] }
}

/** What was erased is said to be. */
async function inputOf(run: PlanRun): Promise<unknown> {
  try {
    return await run.input()
  } catch (error) {
    if (CaissonError.is(error, 'erased')) return '(erased)'
    throw error
  }
}

/** Members of the document for machines. */
export function proposalJson({ plan, input, tools, scope, guests }: Proposal): object {
  return { grants: plan.grants ?? [], scope, input: toTaggedJson(input), tools, guests, document: plan }
}

export function proposalText(
  { plan, digest, input, tools, scope, guests }: Proposal,
  output: CliOutput,
): string {
  const style = styleFor(output)
  const setting = { width: textWidth(output), style, nowMs: Date.now(), mostLines: MOST_INPUT_LINES }
  const lines = [
    ...programLines(plan, (text) => style.dim(text)),
    ...scopeTexts(scope).map((one) => `    ${style.dim('may reach'.padEnd(LABEL))}${escapeText(one)}`),
    ...valueField('input', input, setting),
    ...Object.entries(tools).map(
      ([name, tool]) => `    ${style.dim('tool'.padEnd(LABEL))}${escapeText(name)}  ${style.dim(tool)}`,
    ),
  ]
  const rest = lines.map((line) => `${line.trimEnd()}\n`).join('')
  return planTree(plan, digest, guests, output) + (rest === '' ? '' : `\n${rest}`)
}

function programLines(plan: Plan, dim: (text: string) => string): readonly string[] {
  const lines = codeOf(plan).programs.flatMap(({ at, program }) =>
    textsOf(program).flatMap(([what, text]) => [
      dim(`    program ${escapeText(nodePath(at))}${what === '' ? '' : `, module ${escapeText(what)}`}`),
      ...escapeText(text.trimEnd(), 'lines')
        .split('\n')
        .map((line) => `      ${line}`),
    ]),
  )
  const rest = lines.length - MOST_PROGRAM_LINES
  return rest <= 0
    ? lines
    : [...lines.slice(0, MOST_PROGRAM_LINES), `    ... ${rest} more lines (--json has all)`]
}

function textsOf({ source = '', modules = {} }: Program): readonly (readonly [what: string, text: string])[] {
  return [['', source], ...Object.entries(modules)]
}

/** `/nodes/lookup/do/nodes/ask` as people know it: `lookup/ask`. */
function nodePath(at: string): string {
  const parts = at.split('/').slice(1)
  const ids = parts.filter((_, i) => i % 3 === 1)
  return ids.join('/') + (parts.length % 3 === 0 ? ', which undoes it' : '')
}
