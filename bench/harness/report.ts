/**
 * The document that a bench run leaves: what `--json` prints and what tables and figures read.
 *
 * 1. It is plain JSON. Raw samples of every round are in it, so that anybody can compute their own statistics.
 * 2. Ratios say how many times the base's cost a subject had: below 1 is cheaper than the base.
 */
import type { Environment } from './environment.ts'
import type { Dropout, Plan, Samples } from './measure.ts'
import { geometricMean, type Ratio, ratioOfRounds, type Summary, summarise } from './statistics.ts'
import type { Case, Suite, Unit } from './suite.ts'

export interface SubjectInfo {
  readonly id: string
  readonly version: string
  readonly note: string
}

export interface Result {
  readonly subject: string
  /** Per operation, in the unit of the case. */
  readonly wall: Summary
  /** CPU nanoseconds per operation over all threads, where it can be told apart. */
  readonly cpu?: Summary
  /** Against the base of the case; missing for the base itself. */
  readonly ratio?: Ratio
  readonly cpuRatio?: Ratio
  readonly runsPerRound: number
  /** Per operation, one per round. */
  readonly samples: readonly number[]
  readonly cpuSamples?: readonly number[]
}

export interface CaseReport {
  readonly name: string
  readonly description: string
  readonly unit: Unit
  /** Which subject the ratios are against; missing when none of the suite's bases took part. */
  readonly base?: string
  readonly results: readonly Result[]
  readonly absent: readonly Dropout[]
}

export interface SuiteReport {
  readonly name: string
  readonly description: string
  readonly cases: readonly CaseReport[]
  /** Geometric mean of the ratios (by CPU time if known) over the cases that a subject completed, where asked for. */
  readonly summary?: readonly { readonly subject: string; readonly ratio: number; readonly cases: number }[]
}

export interface Report {
  readonly format: 'caisson-bench/1'
  readonly environment: Environment
  readonly plan: Plan
  readonly subjects: readonly SubjectInfo[]
  /** Subjects that could not be opened at all. */
  readonly absent: readonly Dropout[]
  readonly suites: readonly SuiteReport[]
}

/** CPU clocks tick in microseconds: a round without a tick has no ratio. */
function cpuRatioOf(subject: Samples, base: Samples): Ratio | undefined {
  if (!subject.cpu || !base.cpu || base.cpu.some((sample) => sample <= 0)) return undefined
  return ratioOfRounds(subject.cpu, base.cpu)
}

function resultOf(samples: Samples, base: Samples | undefined): Result {
  const cpuRatio = base && base !== samples ? cpuRatioOf(samples, base) : undefined
  return {
    subject: samples.subject,
    wall: summarise(samples.wall),
    ...(samples.cpu ? { cpu: summarise(samples.cpu) } : {}),
    ...(base && base !== samples ? { ratio: ratioOfRounds(samples.wall, base.wall) } : {}),
    ...(cpuRatio ? { cpuRatio } : {}),
    runsPerRound: samples.runs,
    samples: samples.wall,
    ...(samples.cpu ? { cpuSamples: samples.cpu } : {}),
  }
}

export function caseReport(
  suite: Suite,
  { name, description, unit = 'ns' }: Case,
  all: readonly Samples[],
  absent: readonly Dropout[],
): CaseReport {
  const base = suite.bases
    .map((id) => all.find(({ subject }) => subject === id))
    .find((samples) => samples !== undefined)
  return {
    name,
    description,
    unit,
    ...(base ? { base: base.subject } : {}),
    results: all.map((samples) => resultOf(samples, base)),
    absent,
  }
}

export function suiteReport(suite: Suite, cases: readonly CaseReport[]): SuiteReport {
  const { name, description } = suite
  if (!suite.summary) return { name, description, cases }
  const ratios = new Map<string, number[]>()
  for (const { results } of cases) {
    for (const { subject, ratio: byWall, cpuRatio } of results) {
      const ratio = cpuRatio ?? byWall
      if (ratio) ratios.set(subject, [...(ratios.get(subject) ?? []), ratio.median])
    }
  }
  const summary = [...ratios].map(([subject, each]) => ({
    subject,
    ratio: geometricMean(each),
    cases: each.length,
  }))
  return { name, description, cases, summary }
}
