/**
 * Runs a checkout of a public suite against the guests of this repository:
 *
 *     npm run conformance -- test262 PATH [--sample N] [--seed N] [--under test/language/]
 *
 * stdout carries the report, stderr the progress; all failures go to `out/conformance`. Exits 1 below the floor or when
 * a verdict depends on the kind of guest, 2 for wrong arguments.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { revisionOf } from './revision.ts'
import { Test262Checkout } from './test262/checkout.ts'
import { GUEST_KINDS, type GuestKind, openGuests } from './test262/guests-compared.ts'
import { isGoodEnough, test262Details, test262Report } from './test262/report.ts'
import { runTest262 } from './test262/run-test262.ts'

/** Share of the applicable tests of test262 that must pass. */
const TEST262_FLOOR = 0.985

const USAGE = `npm run conformance -- test262 PATH [--sample N] [--seed N] [--under PREFIX] [--guests KIND,KIND]

PATH      a checkout of test262
--sample  run so many of the applicable tests; default all
--seed    which ones: the same seed draws the same tests; default 1
--under   only tests whose path begins so, test/language/ for example
--guests  only these kinds of guests: ${GUEST_KINDS.join(', ')}; default all`

const OUTPUT = join(import.meta.dirname, '../../out/conformance')

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments(args)
  const [suite, path] = positionals
  const size = values.sample === undefined ? Number.POSITIVE_INFINITY : Number(values.sample)
  const seed = Number(values.seed)
  const kinds = values.guests === undefined ? GUEST_KINDS : values.guests.split(',').filter(isGuestKind)
  if (
    suite !== 'test262' ||
    path === undefined ||
    !(size >= 1) ||
    !Number.isInteger(seed) ||
    kinds.length === 0
  ) {
    process.stderr.write(`${USAGE}\n`)
    return 2
  }
  const started = performance.now()
  const result = runTest262({
    checkout: new Test262Checkout(path),
    guests: await openGuests(),
    size,
    seed,
    kinds,
    under: values.under,
    progress: (done, of) => process.stderr.write(`${done} of ${of}\n`),
  })
  const minutes = ((performance.now() - started) / 60_000).toFixed(1)
  const drawn = Number.isFinite(size) ? `sample ${size}, seed ${seed}` : 'all applicable tests'
  process.stdout.write(`test262 at ${revisionOf(path)}, ${drawn}, ${minutes} minutes\n`)
  process.stdout.write(`${test262Report(result, kinds, TEST262_FLOOR)}\n`)
  mkdirSync(OUTPUT, { recursive: true })
  const file = join(OUTPUT, 'test262.txt')
  writeFileSync(file, test262Details(result))
  process.stdout.write(`\nEvery failure and change: ${file}\n`)
  return isGoodEnough(result, TEST262_FLOOR) ? 0 : 1
}

function readArguments(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
      under: { type: 'string', default: 'test/' },
      guests: { type: 'string' },
    },
  })
}

function isGuestKind(name: string): name is GuestKind {
  return (GUEST_KINDS as readonly string[]).includes(name)
}
