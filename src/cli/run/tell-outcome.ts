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
import { exitOf } from './exit-of.ts'
import type { KeptAs } from './refused-document.ts'
import { runDocument } from './run-document.ts'
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
      stderr.write(`  next: ${facts.goOn.text}:\n    ${escapeText(facts.goOn.command)}\n`)
    }
  }
  if (stderr.isTerminal) stderr.write(runSummary(outcome, stderr.columns, style))
  return interrupted ? EXIT.interrupted : exitOf(outcome)
}
