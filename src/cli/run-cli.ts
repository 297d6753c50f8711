/**
 * From arguments to an exit code.
 *
 * Invariants
 * 1. Every end has a message and a code; nothing is thrown, and no stack trace of ours is shown.
 * 2. With `--json`, stdout carries exactly one JSON document, also when the command refuses to start.
 */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import { nearNames } from '../capability/near-names.ts'
import { CliError } from './cli-error.ts'
import type { CliIo } from './cli-io.ts'
import type { Command } from './command.ts'
import { benchCommand } from './commands/bench.ts'
import { buildCommand } from './commands/build.ts'
import { cancelCommand } from './commands/cancel.ts'
import { collectCommand } from './commands/collect.ts'
import { doctorCommand } from './commands/doctor.ts'
import { forkCommand } from './commands/fork.ts'
import { keysNewCommand } from './commands/keys.ts'
import { newComponentCommand } from './commands/new.ts'
import { planCheckCommand, planDiffCommand, planSchemaCommand, planShowCommand } from './commands/plan.ts'
import {
  planApproveCommand,
  planEventsCommand,
  planProposeCommand,
  planRejectCommand,
  planSendCommand,
  planStartCommand,
  planWithdrawCommand,
} from './commands/plan-run.ts'
import { receiptsCommand } from './commands/receipts.ts'
import { resumeCommand } from './commands/resume.ts'
import { runCommand } from './commands/run.ts'
import { runsCommand } from './commands/runs.ts'
import { showCommand } from './commands/show.ts'
import { compactCommand, eraseCommand, exportCommand, importCommand } from './commands/transfer.ts'
import { typesCommand } from './commands/types.ts'
import { verifyCommand } from './commands/verify.ts'
import { EXIT } from './exit-code.ts'
import { findPackageRoot } from './package-root.ts'
import { parseFlags } from './parse-flags.ts'
import { cliErrorText } from './render/cli-error-text.ts'
import { commandHelp, overviewHelp } from './render/help.ts'
import { jsonText } from './render/json-text.ts'
import { styleFor } from './render/style.ts'

/** Every command, in the order of help. */
const COMMANDS: readonly Command[] = [
  runCommand,
  resumeCommand,
  runsCommand,
  showCommand,
  cancelCommand,
  verifyCommand,
  receiptsCommand,
  forkCommand,
  collectCommand,
  planCheckCommand,
  planShowCommand,
  planDiffCommand,
  planSchemaCommand,
  planProposeCommand,
  planApproveCommand,
  planRejectCommand,
  planWithdrawCommand,
  planStartCommand,
  planSendCommand,
  planEventsCommand,
  keysNewCommand,
  exportCommand,
  importCommand,
  eraseCommand,
  compactCommand,
  typesCommand,
  newComponentCommand,
  buildCommand,
  doctorCommand,
  benchCommand,
]

/** Runs the command that `argv` names (without node and script). Never rejects. */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const [first, ...rest] = argv
  const command = commandOf(argv)
  try {
    if (command === undefined) return answer(first, rest, io)
    return await runNamed(command, argv.slice(command.name.split(' ').length), io)
  } catch (error) {
    const failure = error instanceof CliError ? error : internal(error)
    if (wantsJson(argv)) {
      const document = command?.refusal?.(failure) ?? {
        status: 'refused',
        error: { code: failure.code, message: failure.message },
      }
      io.stdout.write(`${jsonText(document)}\n`)
    }
    io.stderr.write(cliErrorText(failure, io.stderr.columns, styleFor(io.stderr)))
    return failure.exit
  }
}

/** The command that arguments begin with: its name is one word, or two. */
function commandOf([first, second]: readonly string[]): Command | undefined {
  return COMMANDS.find(({ name }) => name === first || name === `${first} ${second}`)
}

/** Commands of two words that begin with this one. */
function commandsBelow(word: string | undefined): readonly Command[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${word} `))
}

async function runNamed(command: Command, args: readonly string[], io: CliIo): Promise<number> {
  const given = parseFlags(command, args)
  if (!given.has('help')) return command.run(given, io)
  io.stdout.write(commandHelp(command, io.stdout.columns, styleFor(io.stdout)))
  return EXIT.done
}

/** What is not a command: help, the version, a mistake. */
function answer(first: string | undefined, rest: readonly string[], io: CliIo): number {
  const style = styleFor(io.stdout)
  const { columns } = io.stdout
  switch (first) {
    case '--version':
    case '-v':
    case '-V':
      io.stdout.write(`caisson ${findPackageRoot().version}\n`)
      return EXIT.done
    case '--help':
    case '-h':
    case 'help': {
      const wanted = commandOf(rest)
      const below = commandsBelow(rest[0])
      if (below.length > 0 && wanted === undefined) {
        io.stdout.write(overviewHelp(below, columns, style))
        return EXIT.done
      }
      if (rest[0] !== undefined && wanted === undefined) throw unknownCommand(rest[0])
      io.stdout.write(wanted ? commandHelp(wanted, columns, style) : overviewHelp(COMMANDS, columns, style))
      return EXIT.done
    }
    case undefined:
      io.stderr.write(overviewHelp(COMMANDS, io.stderr.columns, styleFor(io.stderr)))
      return EXIT.usage
    default: {
      const below = commandsBelow(first)
      if (below.length === 0 || !(rest.includes('--help') || rest.includes('-h')))
        throw unknownCommand(first, rest[0])
      io.stdout.write(overviewHelp(below, columns, style))
      return EXIT.done
    }
  }
}

function unknownCommand(given: string, second?: string): CliError {
  const below = commandsBelow(given)
  if (below.length > 0) {
    const words = below.map(({ name }) => name.slice(given.length + 1))
    const [near] = second === undefined ? [] : nearNames(second, words)
    const meant = near === undefined ? '' : ` Did you mean caisson ${given} ${near}?`
    return new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `caisson ${given} does one of these: ${words.join(', ')}.${meant}`,
      hint: `caisson ${given} ${near ?? words[0]} --help`,
    })
  }
  const near = nearNames(given, [
    ...new Set(COMMANDS.flatMap(({ name }) => [name, ...name.split(' ').slice(0, 1)])),
  ])
  const shown = clipText(given, 80)
  const isFile = /\.[mc]?[jt]sx?$/.test(given) || given === '-'
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: given.startsWith('-')
      ? `The command comes first: caisson COMMAND ${shown}.`
      : `There is no command "${shown}".${near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''}`,
    hint: isFile
      ? `caisson run ${shown}`
      : `caisson --help (commands: ${COMMANDS.map(({ name }) => name).join(', ')})`,
  })
}

/** Asked for anywhere before `--`, also where the other flags are wrong. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json')
}

/** A defect: said with what there is, so that it can be reported. */
function internal(error: unknown): CliError {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return new CliError({
    exit: EXIT.internal,
    code: CaissonError.is(error) ? error.code : 'internal',
    message: `caisson failed: ${name}: ${clipText(message, 2_000)}`,
    hint: 'This is a defect of caisson. Please report it with the command line and `caisson doctor --json`.',
    cause: error,
  })
}
