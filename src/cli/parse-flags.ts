/**
 * Arguments to flags, strictly: what is not understood is refused with the nearest flag, never ignored.
 *
 * Invariants
 * 1. Every argument is a flag of the command, the value of one, or a positional argument.
 * 2. A flag that cannot repeat is given at most once: with two values nobody knows which one holds.
 */
import { parseArgs } from 'node:util'
import { clipText } from '../base/escape-text.ts'
import { nearNames } from '../capability/near-names.ts'
import { CliError } from './cli-error.ts'
import type { Command, Flag, GivenFlags } from './command.ts'
import { EXIT } from './exit-code.ts'

/** Understood by every command. */
export const SHARED_FLAGS: readonly Flag[] = [
  {
    name: 'json',
    help: 'Print JSON on stdout, everything else on stderr: one document; of events of a run of a plan, one line each.',
  },
  { name: 'help', help: 'Show this help.' },
]

/**
 * @param args what follows the name of the command
 * @throws CliError usage
 */
export function parseFlags(command: Command, args: readonly string[]): GivenFlags {
  const flags = new Map<string, Flag>()
  for (const flag of [...command.groups.flatMap((group) => group.flags), ...SHARED_FLAGS])
    flags.set(flag.name, flag)
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      [...flags.values()].map(({ name, value }) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const found = new Map<string, string[]>()
  const positionals: string[] = []
  const rest: string[] = []
  let into = positionals
  for (const token of tokens) {
    if (token.kind === 'option-terminator' && command.takesRest === true) into = rest
    if (token.kind === 'positional') into.push(token.value)
    if (token.kind !== 'option') continue
    const flag = token.name === 'h' && token.rawName === '-h' ? flags.get('help') : flags.get(token.name)
    if (flag === undefined || (!token.rawName.startsWith('--') && flag.name !== 'help')) {
      throw unknownFlag(command, token.rawName, [...flags.keys()])
    }
    const values = found.get(flag.name) ?? []
    found.set(flag.name, [...values, flagValue(command, flag, token.value, token.inlineValue)])
    if (values.length > 0 && flag.repeatable !== true && flag.value !== undefined) {
      throw usage(command, `--${flag.name} is given twice; it takes one ${flag.value}.`)
    }
  }
  // Help is wanted most by who does not have the arguments right yet.
  if (!found.has('help')) checkPositionals(command, positionals)
  return {
    positionals,
    rest,
    has: (name) => found.has(name),
    value: (name) => found.get(name)?.[0],
    values: (name) => found.get(name) ?? [],
  }
}

function flagValue(
  command: Command,
  flag: Flag,
  value: string | undefined,
  inline: boolean | undefined,
): string {
  if (flag.value === undefined) {
    if (value !== undefined) throw usage(command, `--${flag.name} is a switch and takes no value.`)
    return ''
  }
  // `--input --json` lacks a value; `--input=--json` has one.
  if (value === undefined || value === '' || (inline !== true && /^--\w/.test(value))) {
    throw usage(command, `--${flag.name} needs a value: --${flag.name} ${flag.value}.`)
  }
  return value
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const wanted = command.positionals
  if (wanted === undefined) return
  if (given.length < wanted.min) {
    throw usage(
      command,
      `caisson ${command.name} needs ${wanted.name === '' ? 'an argument' : wanted.max > 1 ? wanted.name : `a ${wanted.name}`}.`,
    )
  }
  if (given.length > wanted.max) {
    const extra = clipText(given[wanted.max] ?? '', 80)
    const takes =
      wanted.max === 0 ? 'takes no arguments' : `takes ${wanted.max > 1 ? '' : 'one '}${wanted.name}`
    throw usage(command, `caisson ${command.name} ${takes}; "${extra}" is too much.`)
  }
}

function unknownFlag(command: Command, given: string, names: readonly string[]): CliError {
  const near = nearNames(given.replace(/^-+/, ''), names).map((name) => `--${name}`)
  const meant = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''
  return usage(command, `caisson ${command.name} has no flag ${clipText(given, 80)}.${meant}`)
}

function usage(command: Command, message: string): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint: `caisson ${command.name} --help` })
}
