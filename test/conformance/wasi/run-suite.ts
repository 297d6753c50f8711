/** All programs of a checkout, with this host and with the library below it, and what comes of that. */
import { runPlain, runProgram, type WasiVerdict } from './run-wasi.ts'
import { readPrograms } from './wasi-programs.ts'

/** What the library passes as it comes, version 0.4.2, and what ours has to. */
const FLOOR = 62

export interface WasiResult {
  readonly ours: WasiVerdict
  readonly plain: WasiVerdict
}

/** @throws Error when the folder has no compiled programs */
export async function runWasi(checkout: string): Promise<readonly WasiResult[]> {
  const results: WasiResult[] = []
  for (const program of readPrograms(checkout)) {
    results.push({ ours: await runProgram(program), plain: await runPlain(program) })
  }
  return results
}

export function wasiReport(results: readonly WasiResult[]): string {
  const sets = [...new Set(results.map(({ ours }) => ours.program.set))]
  const lines = sets.map((set) =>
    line(
      set,
      results.filter(({ ours }) => ours.program.set === set),
    ),
  )
  return [...lines, line('all', results)].join('\n')
}

function line(name: string, results: readonly WasiResult[]): string {
  const passed = (verdicts: readonly WasiVerdict[]): number => verdicts.filter((one) => one.passed).length
  const threw = results.filter(({ ours }) => ours.threw).length
  const ours = passed(results.map((one) => one.ours))
  const plain = passed(results.map((one) => one.plain))
  return `${name}: ${ours} of ${results.length} programs passed (${plain} with the library alone), ${threw} threw into the host`
}

export function wasiDetails(results: readonly WasiResult[]): string {
  const failed = results.filter(({ ours }) => !ours.passed)
  return failed.map(({ ours }) => `${ours.program.set}/${ours.program.name}: ${ours.why}\n`).join('')
}

/** At least the floor, no less than the library in any program, and nothing thrown into the host. */
export function isWasiGoodEnough(results: readonly WasiResult[]): boolean {
  const passed = results.filter(({ ours }) => ours.passed).length
  const isWorse = results.some(({ ours, plain }) => plain.passed && !ours.passed)
  return passed >= FLOOR && !isWorse && results.every(({ ours }) => !ours.threw)
}
