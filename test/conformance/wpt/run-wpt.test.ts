import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GuestKind, openPools } from '../guest-kinds.ts'
import type { Area } from './areas.ts'
import { runWptArea, type WptAreaResult, type WptRuns } from './run-wpt.ts'
import { readTestMeta } from './test-meta.ts'
import { WptCheckout } from './wpt-checkout.ts'
import { runWptScenario } from './wpt-guest.ts'
import { areaSums, countChanges, wptReport } from './wpt-report.ts'

/** A harness with the interface of testharness.js, as far as the tests below need it. */
const HARNESS = `
  const tests = [], callbacks = []
  let pending = 0, loaded = false
  const ended = () => {
    if (loaded && pending === 0) for (const call of callbacks.splice(0)) call(tests, { status: 0, message: null })
  }
  Promise.resolve().then(() => { loaded = true; ended() })
  const add_completion_callback = (call) => callbacks.push(call)
  const promise_test = (run, name) => {
    pending += 1
    run().then(() => tests.push({ name, status: 0, message: null }), (error) => tests.push({ name, status: 1, message: String(error) }))
      .then(() => { pending -= 1; ended() })
  }
  const test = (run, name) => promise_test(async () => run(), name)
  const assert = (value) => { if (!value) throw new Error('no') }`

const FILES: Readonly<Record<string, string>> = {
  'resources/testharness.js': HARNESS,
  'area/helper.js': 'const helped = location.search',
  'area/data.json': '{"a":1}',
  'area/good.any.js': `// META: script=helper.js\n// META: variant=?1\n// META: variant=?2
    test(() => assert(helped === '?1' || helped === '?2'), 'variant')
    promise_test(async () => assert((await (await fetch('data.json')).json()).a === 1), 'file')
    promise_test(() => fetch('none.json').then(() => assert(false), () => {}), 'no file')
    promise_test(() => new Promise((resolve) => setTimeout(() => setTimeout(resolve, 1e6), 10)), 'timers')`,
  'area/bad.any.js': `
    test(() => assert(false), 'fails')
    test(() => {}, 'passes')`,
  'area/throws.any.js': 'notThere()',
  'area/waits.any.js': "promise_test(() => new Promise(() => {}), 'waits for ever')",
  'area/hosts.any.js': "test(() => new XMLHttpRequest(), 'left out')",
  'area/page.window.js': "test(() => document, 'not run at all')",
}

const KINDS: readonly GuestKind[] = ['v8', 'moved']

const AREA: Area = { name: 'area', folders: ['area'], floor: 1 }

let folder: string
let guests: WptRuns
let result: WptAreaResult

function run(runs = guests): WptAreaResult {
  return runWptArea(new WptCheckout(folder), AREA, runs, KINDS)
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caisson-wpt-'))
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const poolOf = await openPools(KINDS)
  guests = (kind, scenario) => runWptScenario(poolOf(kind), scenario, kind === 'moved')
  result = run()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the runner of web-platform-tests', () => {
  it('counts every test of every file, and a file that came to no end as a failure', () => {
    const files = Object.fromEntries(
      result.files.map(({ path, passed, failures }) => [path, { passed, failures }]),
    )
    expect(files).toEqual({
      'area/good.any.js': { passed: 8, failures: [] },
      'area/bad.any.js': { passed: 1, failures: ['fails: Error: no'] },
      'area/throws.any.js': {
        passed: 0,
        failures: [expect.stringMatching(/^The file threw ReferenceError/)],
      },
      'area/waits.any.js': { passed: 0, failures: [expect.stringContaining('never came')] },
    })
    expect(areaSums(result)).toEqual({ passed: 9, of: 12 })
    expect(countChanges([result])).toBe(0)
    expect(wptReport([result])).toContain(
      'area: 9 of 12 tests passed (75.0 %, at least 100 % wanted), in 4 files',
    )
  })

  it('leaves out what no guest is meant to have, and says so', () => {
    const { excluded } = result
    expect([...excluded].map(([{ because }, counts]) => [because, counts])).toEqual([
      ['needs XMLHttpRequest', { files: 1, tests: 0 }],
    ])
  })

  it('tells when a guest of another kind ends otherwise', () => {
    const broken = run((kind, scenario) => {
      const outcome = guests(kind, scenario)
      return kind === 'moved' ? { ...outcome, reports: outcome.reports.slice(1) } : outcome
    })
    expect(countChanges([broken])).toBeGreaterThan(0)
    expect(wptReport([broken])).toContain('CHANGED  area/good.any.js, metered, captured in mid-test')
  })
})

describe('the head of a test', () => {
  it('is read up to the first line of code', () => {
    const head =
      '// META: title=T\n// META: global=window,worker\n\n// META: script=/a.js\n// META: script=b.js\n'
    expect(readTestMeta(`${head}code()\n// META: script=late.js`)).toEqual({
      title: 'T',
      scripts: ['/a.js', 'b.js'],
      variants: [''],
      globals: ['window', 'worker'],
    })
  })
})
