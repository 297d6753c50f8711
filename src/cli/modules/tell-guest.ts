/** How a guest that is WebAssembly ended: what it wrote as it is, its value, the document, and the exit code. */
import { escapeText } from '../../base/escape-text.ts'
import type { ModuleResult } from '../../component/module/module-end.ts'
import type { GuestOutcome } from '../../runtime/guest-runs.ts'
import type { CliIo, CliOutput } from '../cli-io.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'
import { nextStep } from '../render/next-step.ts'
import { runEnding, runSummary } from '../render/run-ending.ts'
import { showValue } from '../render/show-value.ts'
import { styleFor } from '../render/style.ts'
import { exitOf } from '../run/exit-of.ts'
import { runDocument } from '../run/run-document.ts'
import type { Told } from '../run/tell-outcome.ts'
import { withGrantWords } from './grant-words.ts'

export type GuestKind = 'module' | 'component'

export interface ToldGuest extends Omit<Told, 'outcome'> {
  readonly outcome: GuestOutcome
  readonly kind: GuestKind
}

export function tellGuest(told: ToldGuest, io: CliIo): ExitCode {
  const { kind, facts, failures, keptAs, json, interrupted } = told
  const outcome = withInputWords(withGrantWords(told.outcome), kind)
  const { stdout, stderr } = io
  const style = styleFor(stderr)
  const result =
    kind === 'module' && outcome.status === 'completed' ? (outcome.value as ModuleResult) : undefined
  const said = result ?? outcome.output
  if (json) {
    const shown = result === undefined ? outcome : { ...outcome, value: textual(result) }
    const { output } = outcome
    const written = output && { stdout: textOrBytes(output.stdout), stderr: textOrBytes(output.stderr) }
    const document = runDocument(shown as GuestOutcome, nextStep(outcome, facts), keptAs)
    stdout.write(`${jsonText({ ...document, ...written })}\n`)
  } else {
    if (said !== undefined) {
      stdout.write(shownOn(stdout, said.stdout))
      stderr.write(shownOn(stderr, said.stderr))
    }
    if (kind === 'component' && outcome.status === 'completed' && (outcome.value ?? null) !== null) {
      const text = showValue(outcome.value, stdout.columns)
      stdout.write(text.endsWith('\n') ? text : `${text}\n`)
    }
  }
  stderr.write(failures.text(style))
  if (interrupted) stderr.write(`${style.yellow('interrupted:')} the program was stopped\n`)
  else if (outcome.status !== 'completed') stderr.write(runEnding(outcome, facts, stderr.columns, style))
  if (stderr.isTerminal) stderr.write(runSummary(outcome, stderr.columns, style))
  if (interrupted) return EXIT.interrupted
  return result !== undefined && result.exitCode !== 0 ? EXIT.failed : exitOf(outcome)
}

/** What the library calls arguments is `--input` here. */
function withInputWords(outcome: GuestOutcome, kind: GuestKind): GuestOutcome {
  if (kind !== 'component' || outcome.status !== 'failed') return outcome
  if (outcome.error.code !== 'invalid_arguments') return outcome
  return { ...outcome, hint: `--input is the list of its arguments, for example --input '["text", 1]'.` }
}

/** With texts where bytes are UTF-8. */
function textual({ exitCode, stdout, stderr, files }: ModuleResult): Readonly<Record<string, unknown>> {
  return { exitCode, stdout: textOrBytes(stdout), stderr: textOrBytes(stderr), files }
}

function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes
  }
}

/** As it is, for a file or a pipe; a terminal obeys nothing that stands in it. */
function shownOn({ isTerminal }: CliOutput, bytes: Uint8Array): string | Uint8Array {
  return isTerminal ? escapeText(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), 'lines') : bytes
}
