/** What a run of test262 prints, and whether it is good enough. */
import { type GuestKind, WHAT_GUESTS_ARE } from '../guest-kinds.ts'
import { EXCLUSIONS } from './applicability.ts'
import type { Test262Result } from './run-test262.ts'

/** Lines that are printed of a list; the file has all of them. */
const SHOWN = 20

/** @param floor least share of the tests that must pass, from 0 to 1 */
export function isGoodEnough(result: Test262Result, floor: number): boolean {
  return result.run > 0 && result.passed >= floor * result.run && result.changes.length === 0
}

export function test262Report(result: Test262Result, kinds: readonly GuestKind[], floor: number): string {
  const { found, applicable, run, passed, failures, changes, guests } = result
  const compared = kinds.map((kind) => `  ${kind.padEnd(10)} ${WHAT_GUESTS_ARE[kind]}`)
  const skipped = EXCLUSIONS.flatMap((exclusion) => {
    const count = result.excluded.get(exclusion) ?? 0
    return count === 0 ? [] : [`  ${String(count).padStart(6)}  ${exclusion.because}`]
  })
  return [
    `${found} tests found, ${found - applicable} not applicable, ${applicable} applicable, ${run} run`,
    '',
    'Not applicable, each test by the first reason:',
    ...skipped,
    '',
    `Guests (${guests} in all):`,
    ...compared,
    '',
    `${passed} of ${run} passed: ${percent(passed, run)}, at least ${(floor * 100).toFixed(1)} % wanted`,
    ...listed('failure', failures.map(failureLine)),
    `${changes.length} changes of a verdict between the guests, none wanted`,
    ...listed('change', changes.map(changeLine)),
  ].join('\n')
}

/** All failures and changes, one a line: what the file of a run holds. */
export function test262Details({ failures, changes }: Test262Result): string {
  return [...failures.map(failureLine), ...changes.map(changeLine), ''].join('\n')
}

function failureLine({ path, mode, reason }: Test262Result['failures'][number]): string {
  return `FAILED   ${path} (${mode}): ${reason}`
}

function changeLine({ path, mode, kind, what }: Test262Result['changes'][number]): string {
  return `CHANGED  ${path} (${mode}), ${WHAT_GUESTS_ARE[kind]}: ${what}`
}

function listed(what: string, lines: readonly string[]): readonly string[] {
  const more = lines.length - SHOWN
  const rest = more > 0 ? [`  and ${more} more ${what}${more === 1 ? '' : 's'}`] : []
  return [...lines.slice(0, SHOWN).map((line) => `  ${line}`), ...rest]
}

function percent(part: number, whole: number): string {
  return whole === 0 ? 'nothing ran' : `${((100 * part) / whole).toFixed(2)} %`
}
