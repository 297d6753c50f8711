/** A command of the command line: what it takes, how its help reads, what it does. */
import type { CliError } from './cli-error.ts'
import type { CliIo } from './cli-io.ts'

/** One flag. Everything that help shows of it stands here, next to nothing else. */
export interface Flag {
  /** Without the dashes. */
  readonly name: string
  /** Placeholder of its value in help; a flag without one is a switch. */
  readonly value?: string
  /** May be given more than once. */
  readonly repeatable?: boolean
  /** What it does, with unit and default. */
  readonly help: string
}

export interface FlagGroup {
  readonly title: string
  readonly flags: readonly Flag[]
}

/** What was given, after `parseFlags` found it well-formed. */
export interface GivenFlags {
  readonly positionals: readonly string[]
  /** What stands behind `--`, of a command that takes it. */
  readonly rest: readonly string[]
  has(name: string): boolean
  /** The value of a flag that is given at most once. */
  value(name: string): string | undefined
  values(name: string): readonly string[]
}

export interface Command {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** How it is called, without `caisson`: `run FILE [flags]`. */
  readonly usage: string
  /** Paragraphs of its help. */
  readonly description: readonly string[]
  readonly groups: readonly FlagGroup[]
  /** `[command line, what it shows]`. */
  readonly examples: readonly (readonly [line: string, meaning: string])[]
  /** Arguments that are no flags; undefined when the command hands everything on unread. */
  readonly positionals: { readonly name: string; readonly min: number; readonly max: number } | undefined
  /** Whether what stands behind `--` is for the program that it runs. Default: it is as what stands before. */
  readonly takesRest?: boolean
  run(given: GivenFlags, io: CliIo): Promise<number>
  /** What `--json` prints when the command refuses to start. Default `{ status, error }`. */
  refusal?(error: CliError): Readonly<Record<string, unknown>>
}
