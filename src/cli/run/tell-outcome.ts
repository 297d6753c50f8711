/** How a program ended: its value or the document on stdout, everything else on stderr, and the exit code. */
import { escapeText } from '../../base/escape-text.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import type { CliIo } from '../cli-io.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { consoleLines } from '../render/console-lines.ts'
import { jsonText } from '../render/json-text.ts'
import { nextStep, type RunFacts } from '../render/next-step.ts'
import { runEnding, runSummary } from '../render/run-ending.ts'
import { showValue } from '../render/show-value.ts'
import { styleFor } from '../render/style.ts'
import { hangText } from '../render/wrap-text.ts'
import { exitOf } from './exit-of.ts'
import type { Rights } from './grant-rights.ts'
import { type KeptAs, runDocument } from './run-document.ts'
import type { ToolFailures } from './tool-failures.ts'

export interface Told {
  readonly outcome: Outcome
  readonly facts: RunFacts
  readonly failures: ToolFailures
  readonly keptAs?: KeptAs | undefined
  readonly json: boolean
  readonly interrupted: boolean
}

export function tellOutcome(
  { outcome, facts, failures, keptAs, json, interrupted }: Told,
  io: CliIo,
): ExitCode {
  const { stdout, stderr } = io
  const style = styleFor(stderr)
  stderr.write(consoleLines(outcome.logs, outcome.usage.logsDropped, style))
  stderr.write(failures.text(style))
  if (json) stdout.write(`${jsonText(runDocument(outcome, nextStep(outcome, facts), keptAs))}\n`)
  else if (outcome.status === 'completed' && outcome.value !== undefined) {
    const text = showValue(outcome.value, stdout.columns)
    stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }
  if (!interrupted) {
    stderr.write(runEnding(outcome, facts, stderr.columns, style))
  } else {
    stderr.write(`${style.yellow('interrupted:')} the program was stopped\n`)
    if (facts.goOn !== undefined) {
      stderr.write(`  next: ${facts.goOn.text}\n    ${escapeText(facts.goOn.command)}\n`)
    }
  }
  if (stderr.isTerminal) stderr.write(runSummary(outcome, stderr.columns, style))
  return interrupted ? EXIT.interrupted : exitOf(outcome)
}

/** That tools were given and none was granted: nobody means that. */
export function hintAtGrants({ grants, withheld }: Rights, io: CliIo): void {
  if (grants.length > 0 || withheld.length === 0) return
  const shown = withheld.slice(0, 5).join(', ')
  const rest = withheld.length > 5 ? `, and ${withheld.length - 5} more` : ''
  const text = `--tools grants nothing by itself; add --grant NAME for each of: ${escapeText(shown)}${rest}`
  const lines = hangText('hint: ', text, io.stderr.columns - 1)
  io.stderr.write(`${styleFor(io.stderr).yellow(lines.join('\n'))}\n`)
}
