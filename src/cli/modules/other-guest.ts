/**
 * Why a kept run of WebAssembly does not go on with the file and the rights that are given: its engine is the file
 * together with the capabilities that it was made to wait for, and two digests that differ do not say which it was.
 */
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { DescribedRun } from '../../runtime/describe-run.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'
import { flagsOfGrants } from '../kept/flags-of-grants.ts'
import { shellQuote } from '../render/shell-quote.ts'
import { kindOfGuest } from './guest-file.ts'
import type { GuestKind } from './tell-guest.ts'

export interface GivenGuest {
  readonly kind: GuestKind
  readonly described: DescribedRun
  /** The file, as it was named. */
  readonly wasm: string
  /** Names of what is granted here. */
  readonly granted: readonly string[]
}

/** @returns undefined for what is no `engine_mismatch` */
export function otherGuest(error: unknown, guest: GivenGuest): CliError | undefined {
  if (!CaissonError.is(error, 'engine_mismatch')) return undefined
  const { kind, described, wasm, granted } = guest
  const before = described.start.capabilities.map(({ name }) => name)
  const missing = before.filter((name) => !granted.includes(name))
  const added = granted.filter((name) => !before.includes(name))
  const refused = (message: string, hint: string): CliError =>
    new CliError({ exit: EXIT.refusedInput, code: error.code, message, hint, cause: error })
  if (missing.length + added.length > 0) {
    const differs = [
      ...(missing.length === 0 ? [] : [`Not granted here: ${some(missing)}.`]),
      ...(added.length === 0 ? [] : [`Not granted then: ${some(added)}.`]),
    ]
    const changes = [
      ...(missing.length === 0 ? [] : [`add ${flagsOfGrants(missing).join(' ')}`]),
      ...(added.length === 0 ? [] : [`leave out ${some(added)}`]),
    ]
    return refused(
      `The ${kind} was started with other capabilities. ${differs.join(' ')}`,
      `Give exactly the rights that it was started with: ${changes.join(', ')}.`,
    )
  }
  return refused(
    `${clipText(wasm, 200)} is not the ${kind} that this run was started from: ${error.message}`,
    `${nameIt(described)} If it is the same, another version of caisson started the run, or one with the package binaryen where there is none here, or the other way round: go on there, or take it from its start here, with all answers that are recorded: --reexecute.`,
  )
}

/** @throws CliError where a component is given for a run of a module, or a module for one of a component */
export function checkSameKind(
  bytes: Uint8Array,
  { kind, described, wasm }: Omit<GivenGuest, 'granted'>,
): void {
  const found = kindOfGuest(bytes)
  if (found === kind) return
  throw new CliError({
    exit: EXIT.refusedInput,
    code: 'engine_mismatch',
    message: `${clipText(wasm, 200)} is a ${found}, and this run is of a ${kind}.`,
    hint: nameIt(described),
  })
}

function nameIt({ start }: DescribedRun): string {
  return `Name the file that it was started from, as it was then: --wasm ${shellQuote(start.fileName)}.`
}

function some(names: readonly string[]): string {
  return names.map((name) => clipText(name, 100)).join(', ')
}
