/**
 * Runs a checkout of a public suite in the guests of this repository:
 *
 *     npm run conformance -- test262 PATH [--sample N] [--seed N] [--under test/language/]
 *     npm run conformance -- wpt PATH [AREA...]
 *     npm run conformance -- wasi PATH
 *     npm run conformance -- spec PATH
 *
 * stdout carries the report, stderr the progress; every failure goes to `out/conformance`. Exits 1 below the floor or
 * when what a guest does depends on its kind, 2 for wrong arguments.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { escapeText } from '../../src/base/escape-text.ts'
import { GUEST_KINDS, type GuestKind, isGuestKind, openPools } from './guest-kinds.ts'
import { test262Tables, wptTables } from './markdown-tables.ts'
import { revisionOf } from './revision.ts'
import { runSpec, specDetails, specReport } from './spec/run-spec.ts'
import { Test262Checkout } from './test262/checkout.ts'
import { isGoodEnough, test262Details, test262Report } from './test262/report.ts'
import { runTest262 } from './test262/run-test262.ts'
import { runScenario, TEST_LIMITS } from './test262/test-guest.ts'
import { isWasiGoodEnough, runWasi, wasiDetails, wasiReport } from './wasi/run-suite.ts'
import { AREAS, type Area } from './wpt/areas.ts'
import { runWptArea } from './wpt/run-wpt.ts'
import { WptCheckout } from './wpt/wpt-checkout.ts'
import { runWptScenario } from './wpt/wpt-guest.ts'
import { areaSums, countChanges, wptDetails, wptReport } from './wpt/wpt-report.ts'

/** Share of the applicable tests of test262 that must pass. */
const TEST262_FLOOR = 0.985

const USAGE = `npm run conformance -- test262 PATH [--sample N] [--seed N] [--under PREFIX]
npm run conformance -- wpt PATH [AREA...]
npm run conformance -- wasi PATH
npm run conformance -- spec PATH

PATH      a checkout of test262, of web-platform-tests, of WebAssembly/testsuite, or of wasi-testsuite with its programs compiled (the branch
          prod/testsuite-base)
AREA      ${AREAS.map(({ name }) => name).join(', ')}; default all
--sample  run so many of the applicable tests of test262; default all
--seed    which ones: the same seed draws the same tests; default 1
--under   only tests whose path begins so, test/language/ for example
--guests  only these kinds of guests: ${GUEST_KINDS.join(', ')}; default all
--markdown
          print the tables of docs/conformance.md as well`

const OUTPUT = join(import.meta.dirname, '../../out/conformance')

interface Choice {
  readonly folder: string
  readonly areas: readonly Area[]
  readonly size: number
  readonly seed: number
  readonly under: string
  readonly kinds: readonly GuestKind[]
  readonly markdown: boolean
}

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const [suite] = args
  const choice = parseChoice(args.slice(1))
  if (choice === undefined) return refuse()
  switch (suite) {
    case 'test262':
      return await runLanguage(choice)
    case 'wpt':
      return await runWpt(choice)
    case 'wasi':
      return await runPrograms(choice)
    case 'spec':
      return runModules(choice)
    default:
      return refuse()
  }
}

function refuse(): number {
  process.stderr.write(`${USAGE}\n`)
  return 2
}

async function runPrograms({ folder }: Choice): Promise<number> {
  const results = await runWasi(folder)
  say(`wasi-testsuite at ${revisionOf(folder)}`)
  say(wasiReport(results))
  keep('wasi.txt', wasiDetails(results))
  return isWasiGoodEnough(results) ? 0 : 1
}

function runModules({ folder }: Choice): number {
  const result = runSpec(folder, (script) => process.stderr.write(`${script}\n`))
  say(`WebAssembly/testsuite at ${revisionOf(folder)}`)
  say(specReport(result))
  keep('spec.txt', specDetails(result))
  return result.commands > 0 && result.changes.length === 0 ? 0 : 1
}

async function runLanguage({ folder, size, seed, under, kinds, markdown }: Choice): Promise<number> {
  const poolOf = await openPools(kinds)
  const result = runTest262({
    checkout: new Test262Checkout(folder),
    guests: (kind, scenario) =>
      runScenario(poolOf(kind), scenario, { moves: kind === 'moved', limits: TEST_LIMITS }),
    size,
    seed,
    kinds,
    under,
    progress: (done, of) => process.stderr.write(`${done} of ${of}\n`),
  })
  const drawn = Number.isFinite(size) ? `sample ${size}, seed ${seed}` : 'all applicable tests'
  say(`test262 at ${revisionOf(folder)}, ${drawn}`)
  say(test262Report(result, kinds, TEST262_FLOOR))
  if (markdown) say(`\n${test262Tables(result)}`)
  keep('test262.txt', test262Details(result))
  return isGoodEnough(result, TEST262_FLOOR) ? 0 : 1
}

async function runWpt({ folder, areas, kinds, markdown }: Choice): Promise<number> {
  const poolOf = await openPools(kinds)
  const checkout = new WptCheckout(folder)
  const results = areas.map((area) => {
    process.stderr.write(`${area.name}\n`)
    return runWptArea(
      checkout,
      area,
      (kind, scenario) => runWptScenario(poolOf(kind), scenario, kind === 'moved'),
      kinds,
    )
  })
  say(`web-platform-tests at ${revisionOf(folder)}`)
  say(wptReport(results))
  if (markdown) say(`\n${wptTables(results)}`)
  keep('wpt.txt', wptDetails(results))
  const isGood = results.every((result) => {
    const { passed, of } = areaSums(result)
    return of > 0 && passed >= result.area.floor * of
  })
  return isGood && countChanges(results) === 0 ? 0 : 1
}

function parseChoice(args: readonly string[]): Choice | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
      under: { type: 'string', default: 'test/' },
      guests: { type: 'string', default: GUEST_KINDS.join() },
      markdown: { type: 'boolean', default: false },
    },
  })
  const [folder, ...names] = positionals
  const size = values.sample === undefined ? Number.POSITIVE_INFINITY : Number(values.sample)
  const seed = Number(values.seed)
  const { under, markdown } = values
  const kinds = values.guests.split(',')
  const areas = AREAS.filter(({ name }) => names.length === 0 || names.includes(name))
  const isRight =
    folder !== undefined &&
    size >= 1 &&
    Number.isInteger(seed) &&
    kinds.every(isGuestKind) &&
    names.every((name) => areas.some((area) => area.name === name))
  return isRight ? { folder, areas, size, seed, under, kinds, markdown } : undefined
}

function keep(name: string, text: string): void {
  mkdirSync(OUTPUT, { recursive: true })
  const file = join(OUTPUT, name)
  writeFileSync(file, escapeText(text, 'lines'))
  say(`\nEvery failure and change: ${file}`)
}

function say(text: string): void {
  process.stdout.write(`${escapeText(text, 'lines')}\n`)
}
