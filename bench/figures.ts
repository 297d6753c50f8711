/**
 * The figures that the project promises, each computed from one run of the benches. Speed is a ratio between subjects
 * that were measured next to each other; absolute are deadlines, sizes, a count, and what keeping a guest costs.
 *
 * 1. A figure whose subjects were not measured is reported as such, not as reached.
 * 2. The verdict is on CPU time where every side has it, because that does not depend on what else the machine
 *    does; otherwise on wall time.
 */
import type { CaseReport, Report, Result } from './harness/report.ts'
import { geometricMean, ratioOfRounds } from './harness/statistics.ts'
import type { Unit } from './harness/suite.ts'

interface Bounds {
  readonly what: string
  /** Names a case as `suite/case`; a whole suite takes the mean, or the worst, of its cases. */
  readonly measuredBy: string
  readonly atLeast: number
  readonly aim: number
}

/** How a subject compares with another one that was measured next to it; geometric mean over cases. */
interface RatioDefinition extends Bounds {
  /** `faster`: how many times cheaper than the base (more is better). `cost`: how many times its cost (less is better). */
  readonly sense: 'faster' | 'cost'
  readonly subject: string
  readonly base: string
  /** Where the work is done by a disk or by another process: the CPU time of this one does not tell. */
  readonly judgedBy?: 'wall'
}

/** The median of a subject in its worst case, by CPU time where it has it; less is better. */
interface WorstDefinition extends Bounds {
  readonly sense: 'worst'
  readonly subject: string
  readonly unit: Unit
}

/** How many subjects found no difference, or none if any found one; more is better. */
interface AgreementDefinition extends Bounds {
  readonly sense: 'agreement'
}

export type FigureDefinition = RatioDefinition | WorstDefinition | AgreementDefinition

export type Figure = FigureDefinition & {
  /** A ratio, a count, or in the unit of the definition. */
  readonly value?: number
  /** Which clock a ratio is by. */
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
    what: 'fuel overhead, profile portable, on Bun',
    measuredBy: 'fuel-overhead-bun',
    subject: 'engine-portable',
    base: 'engine-unmetered',
    sense: 'cost',
    atLeast: 1.6,
    aim: 1.3,
  },
  {
    what: 'runtimes with equal fuel and digests',
    measuredBy: 'runtimes/equal programs',
    sense: 'agreement',
    atLeast: 5,
    aim: 6,
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
  {
    what: 'deadline of 100 ms, worst builtin',
    measuredBy: 'deadline',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 115e6,
    aim: 105e6,
  },
  {
    what: 'browser download, gzip',
    measuredBy: 'download',
    subject: 'caisson',
    sense: 'worst',
    unit: 'bytes',
    atLeast: 500_000,
    aim: 380_000,
  },
  {
    what: 'checkpoint of a small step in a chain',
    measuredBy: 'checkpoint/step-size',
    subject: 'caisson',
    sense: 'worst',
    unit: 'bytes',
    atLeast: 2_000,
    aim: 500,
  },
  {
    what: 'checkpoint of a small step in a chain',
    measuredBy: 'checkpoint/step',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 0.3e6,
    aim: 0.05e6,
  },
  {
    what: 'the same without a key to authenticate',
    measuredBy: 'checkpoint/step-unkeyed',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 0.3e6,
    aim: 0.05e6,
  },
  {
    what: 'first checkpoint of a small guest',
    measuredBy: 'checkpoint/first-size',
    subject: 'caisson',
    sense: 'worst',
    unit: 'bytes',
    atLeast: 25_000,
    aim: 6_000,
  },
  {
    what: 'restore, checkpoint that stands alone',
    measuredBy: 'checkpoint/restore',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 1.5e6,
    aim: 0.3e6,
  },
  {
    what: 'restore, checkpoint of a whole chain',
    measuredBy: 'checkpoint/restore-chain',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 1.5e6,
    aim: 0.3e6,
  },
  {
    what: 'restore vs deserialize + restore',
    measuredBy: 'checkpoint/restore',
    subject: 'caisson',
    base: 'quickjs-wasi',
    sense: 'faster',
    atLeast: 2,
    aim: 8,
  },
  {
    what: 'size of a whole checkpoint, times smaller',
    measuredBy: 'checkpoint/size',
    subject: 'caisson',
    base: 'quickjs-wasi',
    sense: 'faster',
    atLeast: 5,
    aim: 50,
  },
  {
    what: 'wake, step and park',
    measuredBy: 'checkpoint/wake',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 150e3,
    aim: 60e3,
  },
  {
    what: '10,000 parked guests',
    measuredBy: 'checkpoint/crowd-memory',
    subject: 'caisson',
    sense: 'worst',
    unit: 'bytes',
    atLeast: 250e6,
    aim: 100e6,
  },
  {
    what: '10,000 parked guests, wake one',
    measuredBy: 'checkpoint/crowd-wake',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 150e3,
    aim: 100e3,
  },
  {
    what: 'checkpoint of 16 MB, 10 pages written',
    measuredBy: 'checkpoint/few-pages',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 5e6,
    aim: 1e6,
  },
  {
    what: 'longest block, checkpoint of 32 MB',
    measuredBy: 'checkpoint/block',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 10e6,
    aim: 3e6,
  },
  {
    what: 'acquire with the library vs without',
    measuredBy: 'guest/acquire',
    subject: 'caisson',
    base: 'caisson-bare',
    sense: 'cost',
    atLeast: 1.5,
    aim: 1.1,
  },
  {
    what: 'live image with the frequent library',
    measuredBy: 'guest/live-image',
    subject: 'caisson',
    sense: 'worst',
    unit: 'bytes',
    atLeast: 400 * 1024,
    aim: 260 * 1024,
  },
  {
    what: 'first use of a rare global: URL',
    measuredBy: 'guest/first-url',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 3e6,
    aim: 1e6,
  },
  {
    what: 'first use of a rare global: ReadableStream',
    measuredBy: 'guest/first-stream',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 3e6,
    aim: 1e6,
  },
  {
    what: 'first use of a rare global: FormData',
    measuredBy: 'guest/first-form',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 3e6,
    aim: 1e6,
  },
  {
    what: 'TypeScript of 200 lines, first',
    measuredBy: 'guest/typescript-first',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 40e6,
    aim: 15e6,
  },
  {
    what: 'TypeScript of 200 lines, cached',
    measuredBy: 'guest/typescript-cached',
    subject: 'caisson',
    sense: 'worst',
    unit: 'ns',
    atLeast: 0.1e6,
    aim: 0.05e6,
  },
  {
    what: '20 lines of TypeScript, two calls',
    measuredBy: 'guest/one-shot',
    subject: 'caisson',
    base: 'run',
    sense: 'faster',
    atLeast: 5,
    aim: 15,
  },
  {
    what: '20 lines of TypeScript, two calls',
    measuredBy: 'guest/one-shot',
    subject: 'caisson',
    base: 'sebastianwessel-quickjs',
    sense: 'faster',
    atLeast: 5,
    aim: 15,
  },
  {
    what: 'step of a chain of 200 trivial calls',
    measuredBy: 'graph/chain-200',
    subject: 'caisson-memory',
    base: 'langgraph-memory',
    sense: 'faster',
    atLeast: 10,
    aim: 20,
  },
  {
    what: 'step of a chain of 1,000 trivial calls',
    measuredBy: 'graph/chain-1000',
    subject: 'caisson-memory',
    base: 'langgraph-memory',
    sense: 'faster',
    atLeast: 30,
    aim: 80,
  },
  {
    what: 'the same against a machine that keeps nothing',
    measuredBy: 'graph/chain-1000',
    subject: 'caisson-memory',
    base: 'xstate',
    sense: 'cost',
    atLeast: 2,
    aim: 2,
  },
  {
    what: 'time per step, 5,000 against 200 steps',
    measuredBy: 'graph/growth',
    subject: 'caisson-memory',
    sense: 'worst',
    unit: 'times',
    atLeast: 1.2,
    aim: 1.05,
  },
  {
    what: 'step that outlives the process, synced',
    measuredBy: 'graph/durable-200',
    subject: 'caisson-directory',
    base: 'dbos',
    sense: 'faster',
    judgedBy: 'wall',
    atLeast: 1,
    aim: 3,
  },
  {
    what: 'step that outlives the process, synced',
    measuredBy: 'graph/durable-200',
    subject: 'caisson-directory',
    base: 'langgraph-sqlite',
    sense: 'faster',
    judgedBy: 'wall',
    atLeast: 1,
    aim: 3,
  },
  {
    what: 'stored of 100 kB that 30 steps do not change',
    measuredBy: 'graph/bytes',
    subject: 'caisson-directory',
    sense: 'worst',
    unit: 'bytes',
    atLeast: 150_000,
    aim: 110_000,
  },
  {
    what: 'going on after 1,000 calls of 20 KB',
    measuredBy: 'graph/resume-1000',
    subject: 'caisson-memory',
    sense: 'worst',
    unit: 'ns',
    atLeast: 50e6,
    aim: 10e6,
  },
  {
    what: 'the same against after 10 calls',
    measuredBy: 'graph/resume-growth',
    subject: 'caisson-memory',
    sense: 'worst',
    unit: 'times',
    atLeast: 1.5,
    aim: 1.5,
  },
  {
    what: '10,000 runs that wait for a person',
    measuredBy: 'graph/crowd-memory',
    subject: 'caisson-memory',
    sense: 'worst',
    unit: 'bytes',
    atLeast: 300e6,
    aim: 100e6,
  },
  {
    what: 'verifying a run against executing it',
    measuredBy: 'graph/verify',
    subject: 'caisson-memory',
    sense: 'worst',
    unit: 'times',
    atLeast: 1,
    aim: 0.2,
  },
  {
    what: 'call of an export without arguments vs jco',
    measuredBy: 'component/call',
    subject: 'caisson-component',
    base: 'jco',
    sense: 'faster',
    atLeast: 2.5,
    aim: 10,
  },
  {
    what: 'export with one host call vs jco',
    measuredBy: 'component/host-call',
    subject: 'caisson-component',
    base: 'jco',
    sense: 'faster',
    atLeast: 2.5,
    aim: 10,
  },
  {
    what: 'metered loop in C vs unmetered',
    measuredBy: 'component/loop',
    subject: 'caisson-component',
    base: 'core-unmetered',
    sense: 'cost',
    atLeast: 1.2,
    aim: 1.1,
  },
  {
    what: 'metered loop in Python vs unmetered',
    measuredBy: 'component/python-loop',
    subject: 'caisson-component',
    base: 'core-unmetered',
    sense: 'cost',
    atLeast: 1.2,
    aim: 1.1,
  },
  {
    what: 'metered loop in Ruby vs unmetered',
    measuredBy: 'component/ruby-loop',
    subject: 'caisson-component',
    base: 'core-unmetered',
    sense: 'cost',
    atLeast: 1.2,
    aim: 1.1,
  },
  {
    what: 'Python print(1+1), its start done before, vs a process of the system',
    measuredBy: 'component/python-warm',
    subject: 'caisson-component',
    base: 'python3',
    sense: 'cost',
    judgedBy: 'wall',
    atLeast: 3,
    aim: 1,
  },
  {
    what: 'Python print(1+1) vs a process of the system',
    measuredBy: 'component/python-print',
    subject: 'caisson-component',
    base: 'python3',
    sense: 'cost',
    // The other side is another process.
    judgedBy: 'wall',
    atLeast: 3,
    aim: 1,
  },
  {
    what: 'fresh instance of a prepared component of 79 KB',
    measuredBy: 'component/instance',
    subject: 'caisson-component',
    sense: 'worst',
    unit: 'ns',
    atLeast: 2e6,
    aim: 0.2e6,
  },
  {
    what: 'component with QuickJS, prepared before',
    measuredBy: 'component/cached',
    subject: 'caisson-component',
    sense: 'worst',
    unit: 'ns',
    atLeast: 5e6,
    aim: 5e6,
  },
  {
    what: 'CPython prepared for the first time',
    measuredBy: 'component/python-prepared',
    subject: 'caisson-component',
    sense: 'worst',
    unit: 'ns',
    atLeast: 15e9,
    aim: 5e9,
  },
]

type Measured = Pick<Report, 'suites'>

interface Reading {
  readonly value: number
  readonly clock?: 'cpu' | 'wall'
}

function casesOf(report: Measured, measuredBy: string): readonly CaseReport[] {
  const [suiteName = '', caseName] = measuredBy.split('/')
  const suite = report.suites.find(({ name }) => name === suiteName)
  return suite?.cases.filter(({ name }) => caseName === undefined || name === caseName) ?? []
}

function readRatio(report: Measured, definition: RatioDefinition): Reading | undefined {
  const pairs = casesOf(report, definition.measuredBy).flatMap(({ results }): [Result, Result][] => {
    const own = results.find(({ subject }) => subject === definition.subject)
    const other = results.find(({ subject }) => subject === definition.base)
    return own && other ? [[own, other]] : []
  })
  if (pairs.length === 0) return undefined
  const byCpu =
    definition.judgedBy !== 'wall' &&
    pairs.every(([own, other]) => own.cpuSamples && other.cpuSamples?.every((sample) => sample > 0))
  const ratios = pairs.map(([own, other]) =>
    byCpu && own.cpuSamples && other.cpuSamples
      ? ratioOfRounds(own.cpuSamples, other.cpuSamples).median
      : ratioOfRounds(own.samples, other.samples).median,
  )
  const cost = geometricMean(ratios)
  return { value: definition.sense === 'cost' ? cost : 1 / cost, clock: byCpu ? 'cpu' : 'wall' }
}

function readWorst(report: Measured, { measuredBy, subject }: WorstDefinition): Reading | undefined {
  const own = casesOf(report, measuredBy).flatMap(({ results }) =>
    results.filter((result) => result.subject === subject),
  )
  if (own.length === 0) return undefined
  const byCpu = own.every(({ cpu }) => cpu !== undefined)
  const value = Math.max(...own.map(({ wall, cpu }) => (byCpu && cpu ? cpu : wall).median))
  return byCpu ? { value, clock: 'cpu' } : { value }
}

function readAgreement(report: Measured, { measuredBy }: AgreementDefinition): Reading | undefined {
  const results = casesOf(report, measuredBy).flatMap((each) => each.results)
  if (results.length === 0) return undefined
  return { value: results.every(({ wall }) => wall.max === 0) ? results.length : 0 }
}

function read(report: Measured, definition: FigureDefinition): Reading | undefined {
  switch (definition.sense) {
    case 'worst':
      return readWorst(report, definition)
    case 'agreement':
      return readAgreement(report, definition)
    default:
      return readRatio(report, definition)
  }
}

/** Whether less is better. */
export function isUpperBound({ sense }: FigureDefinition): boolean {
  return sense === 'cost' || sense === 'worst'
}

/** Every figure with its value in this report, where the report can tell. */
export function figuresOf(
  report: Measured,
  definitions: readonly FigureDefinition[] = FIGURE_DEFINITIONS,
): Figure[] {
  return definitions.map((definition): Figure => {
    const reading = read(report, definition)
    if (reading === undefined) return { ...definition, verdict: 'not measured' }
    const { value } = reading
    const meets = (bound: number): boolean => (isUpperBound(definition) ? value <= bound : value >= bound)
    const verdict = meets(definition.aim) ? 'aim reached' : meets(definition.atLeast) ? 'reached' : 'missed'
    return { ...definition, ...reading, verdict }
  })
}
