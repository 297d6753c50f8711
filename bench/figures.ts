/**
 * The figures that the project promises, each computed from one run of the benches: ratios between subjects that
 * were measured next to each other, never absolute times.
 *
 * 1. A figure whose subjects were not measured is reported as such, not as reached.
 * 2. The verdict is on CPU time where both sides have it, because that does not depend on what else the machine
 *    does; otherwise on wall time.
 */
import type { Report, Result } from './harness/report.ts'
import { geometricMean, ratioOfRounds } from './harness/statistics.ts'

/** Names cases as `suite/case`; a whole suite takes the geometric mean over its cases. */
export interface FigureDefinition {
  readonly what: string
  readonly measuredBy: string
  readonly subject: string
  readonly base: string
  /** `faster`: how many times cheaper than the base (more is better). `cost`: how many times its cost (less is better). */
  readonly sense: 'faster' | 'cost'
  readonly atLeast: number
  readonly aim: number
}

export interface Figure extends FigureDefinition {
  readonly value?: number
  readonly clock?: 'cpu' | 'wall'
  readonly verdict: 'aim reached' | 'reached' | 'missed' | 'not measured'
}

export const FIGURE_DEFINITIONS: readonly FigureDefinition[] = [
  {
    what: 'fuel overhead, profile v8',
    measuredBy: 'fuel-overhead',
    subject: 'engine-v8',
    base: 'engine-unmetered',
    sense: 'cost',
    atLeast: 1.2,
    aim: 1.1,
  },
  {
    what: 'fuel overhead, profile portable, on V8',
    measuredBy: 'fuel-overhead',
    subject: 'engine-portable',
    base: 'engine-unmetered',
    sense: 'cost',
    atLeast: 1.3,
    aim: 1.18,
  },
  {
    what: 'acquire vs new runtime + context',
    measuredBy: 'acquire/fresh guest',
    subject: 'caisson',
    base: 'quickjs-emscripten',
    sense: 'faster',
    atLeast: 6,
    aim: 15,
  },
  {
    what: 'acquire, evaluate 1 + 2 vs new + run',
    measuredBy: 'first-result/fresh guest, 1 + 2',
    subject: 'caisson',
    base: 'monty',
    sense: 'cost',
    atLeast: 1.5,
    aim: 1,
  },
  {
    what: 'sync gated call vs ungated, no args',
    measuredBy: 'host-call/none',
    subject: 'caisson',
    base: 'quickjs-emscripten',
    sense: 'faster',
    atLeast: 10,
    aim: 25,
  },
  {
    what: 'sync gated call vs ungated, no args',
    measuredBy: 'host-call/none',
    subject: 'caisson',
    base: 'quickjs-wasi',
    sense: 'faster',
    atLeast: 1,
    aim: 2,
  },
  {
    what: 'object and back vs JSON strings',
    measuredBy: 'host-call/object',
    subject: 'caisson',
    base: 'quickjs-emscripten',
    sense: 'faster',
    atLeast: 2,
    aim: 4,
  },
  {
    what: 'awaited gated call with an object',
    measuredBy: 'host-call/awaited-object',
    subject: 'caisson',
    base: 'run',
    sense: 'faster',
    atLeast: 8,
    aim: 20,
  },
]

interface Costs {
  readonly clock: 'cpu' | 'wall'
  readonly ratios: readonly number[]
}

function pairsOf(
  report: Pick<Report, 'suites'>,
  { measuredBy, subject, base }: FigureDefinition,
): [Result, Result][] {
  const [suiteName = '', caseName] = measuredBy.split('/')
  const suite = report.suites.find(({ name }) => name === suiteName)
  const cases = suite?.cases.filter(({ name }) => caseName === undefined || name === caseName) ?? []
  return cases.flatMap(({ results }) => {
    const own = results.find((result) => result.subject === subject)
    const other = results.find((result) => result.subject === base)
    return own && other ? [[own, other]] : []
  })
}

function costsOf(report: Pick<Report, 'suites'>, definition: FigureDefinition): Costs {
  const pairs = pairsOf(report, definition)
  const byCpu = pairs.every(
    ([own, other]) => own.cpuSamples && other.cpuSamples?.every((sample) => sample > 0),
  )
  const ratios = pairs.map(([own, other]) =>
    byCpu && own.cpuSamples && other.cpuSamples
      ? ratioOfRounds(own.cpuSamples, other.cpuSamples).median
      : ratioOfRounds(own.samples, other.samples).median,
  )
  return { clock: byCpu ? 'cpu' : 'wall', ratios }
}

/** Every figure with its value in this report, where the report can tell. */
export function figuresOf(
  report: Pick<Report, 'suites'>,
  definitions: readonly FigureDefinition[] = FIGURE_DEFINITIONS,
): Figure[] {
  return definitions.map((definition) => {
    const { clock, ratios } = costsOf(report, definition)
    if (ratios.length === 0) return { ...definition, verdict: 'not measured' }
    const cost = geometricMean(ratios)
    const value = definition.sense === 'cost' ? cost : 1 / cost
    const meets = (bound: number): boolean => (definition.sense === 'cost' ? value <= bound : value >= bound)
    const verdict = meets(definition.aim) ? 'aim reached' : meets(definition.atLeast) ? 'reached' : 'missed'
    return { ...definition, value, clock, verdict }
  })
}
