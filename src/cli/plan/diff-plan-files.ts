/** What `caisson plan diff` does. */
import { escapeText } from '../../base/escape-text.ts'
import { diffPlans, needsApproval, type PlanChange } from '../../graph/plan/diff-plan.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo, CliOutput } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'
import { styleFor } from '../render/style.ts'
import { hangText } from '../render/wrap-text.ts'
import { CodeReader } from './code-reader.ts'
import { readPlanFile } from './plan-file.ts'
import { tellRefused } from './refused-plan.ts'

/** @returns the exit code. @throws CliError */
export async function diffPlanFiles(given: GivenFlags, io: CliIo): Promise<number> {
  const [oldName = '-', newName = '-'] = given.positionals
  if (oldName === '-' && newName === '-') {
    const message = 'Both plans cannot come from standard input.'
    throw new CliError({ exit: EXIT.usage, code: 'usage', message, hint: 'caisson plan diff --help' })
  }
  const reader = new CodeReader()
  try {
    const old = await readPlanFile(oldName, reader, io)
    if (old.defined === undefined) return tellRefused(old, given.has('json'), io)
    const now = await readPlanFile(newName, reader, io)
    if (now.defined === undefined) return tellRefused(now, given.has('json'), io)
    const changes = diffPlans(old.defined.plan, now.defined.plan)
    const approval = needsApproval(changes)
    if (given.has('json')) {
      const digests = { old: old.defined.digest, new: now.defined.digest }
      const document = { status: 'compared', ...digests, needsApproval: approval, changes }
      io.stdout.write(`${jsonText(document)}\n`)
    } else io.stdout.write(diffText(changes, approval, io.stdout))
    return EXIT.done
  } finally {
    await reader.close()
  }
}

const HEADINGS: Readonly<Record<PlanChange['of'], string>> = {
  authority: 'Authority',
  budget: 'Budget',
  node: 'Nodes',
  edge: 'Order',
  text: 'Words',
}
const MARKS: Readonly<Record<PlanChange['effect'], string>> = {
  widened: '+',
  narrowed: '-',
  changed: '~',
  same: '=',
}

function diffText(changes: readonly PlanChange[], approval: boolean, output: CliOutput): string {
  const style = styleFor(output)
  const width = Math.max(40, Math.min(output.columns - 1, 110))
  const lines: string[] = []
  let heading = ''
  for (const { of, effect, words } of changes) {
    if (heading !== HEADINGS[of]) lines.push(style.bold(HEADINGS[of]))
    heading = HEADINGS[of]
    const paint = effect === 'widened' ? style.red : effect === 'changed' ? style.yellow : style.dim
    const [first = '', ...more] = hangText(`  ${MARKS[effect]} `, escapeText(words), width)
    lines.push(`  ${paint(MARKS[effect])} ${first.slice(4)}`, ...more)
  }
  if (changes.length === 0) lines.push('The plans are the same, and have the same digest.')
  else if (approval)
    lines.push(style.yellow('A new approval is needed: the new plan may do more, or other things.'))
  else
    lines.push(style.green('No new approval is needed: the new plan may do nothing more and nothing else.'))
  return `${lines.join('\n')}\n`
}
