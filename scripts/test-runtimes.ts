/**
 * Runs the same programs on every runtime and compares fuel, values and final states: `npm run test:runtimes`. Then a
 * guest with every kind of state travels: from each of its suspension points into a new process, and through all
 * runtimes with a capture in each.
 *
 * Brings Node 24, Bun and Deno from npm into `.cache/runtimes`, and a Chromium as the browser tests do. Any
 * difference, and any runtime that cannot be brought, fails.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { chromium } from 'playwright'
import { servePage } from '../test/browser/page-server.ts'
import type { Stopover } from '../test/checkpoints/traveller/journey.ts'
import { differences, roundTrip } from '../test/checkpoints/traveller/round-trip.ts'
import { packTravelKit, type Stop } from '../test/checkpoints/traveller/stops.ts'
import { ensureChromium } from './ensure-chromium.ts'
import { bringCommand } from './runtimes/bring-command.ts'

interface Report {
  readonly engine: string
  readonly results: Readonly<Record<string, readonly unknown[]>>
}

const root = fileURLToPath(new URL('..', import.meta.url))
const probe = join(root, 'scripts/runtimes/probe.mjs')
/** Differences so far. */
let found = 0

function runProbe(command: string, args: readonly string[]): Report {
  const output = execFileSync(command, [...args, probe], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  return JSON.parse(output) as Report
}

async function runInChromium(): Promise<Report> {
  const { executablePath } = await ensureChromium()
  const folder = mkdtempSync(join(tmpdir(), 'caisson-runtimes-'))
  try {
    await build({
      stdin: { contents: browserProbe(), resolveDir: root },
      bundle: true,
      format: 'esm',
      outfile: join(folder, 'a/b/main.js'),
      logLevel: 'error',
    })
    cpSync(join(root, 'dist/engines'), join(folder, 'engines'), { recursive: true })
    writeFileSync(
      join(folder, 'index.html'),
      '<!doctype html><script type="module" src="/a/b/main.js"></script>',
    )
    const server = await servePage(folder)
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
    try {
      const page = await browser.newPage()
      await page.goto(server.url)
      await page.waitForFunction(() => 'report' in globalThis)
      return (await page.evaluate(
        () => (globalThis as unknown as { report: Promise<Report> }).report,
      )) as Report
    } finally {
      await browser.close()
      await server.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The same probe with the browser's entry, its programs inlined, and its report as a global promise. */
function browserProbe(): string {
  const programs = readFileSync(join(root, 'scripts/runtimes/programs.json'), 'utf8')
  return readFileSync(probe, 'utf8')
    .replace(/^import \{ readFileSync \}.*$/m, '')
    .replace("'../../dist/src/entry/node.js'", "'./dist/src/entry/browser.js'")
    .replace(/JSON\.parse\(readFileSync\(.*\)\)$/m, programs)
    .replace(/^const runtime = await/m, 'globalThis.report = (async () => {\nconst runtime = await')
    .replace(/console\.log\(JSON\.stringify\((.*)\)\)\s*$/, 'return $1\n})()')
}

/** What a new process makes of each checkpoint of the guest: how many of them end as the straight run does. */
async function finishFromEverywhere(node: Stop, straight: Stopover): Promise<void> {
  for (const [at, { checkpoint }] of straight.waypoints.entries()) {
    if (checkpoint === undefined) throw new Error(`There is no checkpoint after ${at} calls.`)
    const { engine, waypoints, arrival } = await node.travel({ checkpoint })
    const digests = waypoints.map(({ stateDigest }, after) => [at + after, stateDigest] as const)
    const hop = { stop: `${node.name}, from call ${at}`, engine, digests, checkpointBytes: undefined }
    if (arrival === undefined) throw new Error(`It did not end after it was taken up after ${at} calls.`)
    tellDifferences(differences({ hops: [hop], arrival }, straight))
  }
}

async function travelThroughAll(): Promise<void> {
  const kit = await packTravelKit()
  const node = kit.processStop(`Node ${process.versions.node}`, process.execPath)
  const node24 = kit.processStop('Node 24', node24Command)
  const bun = kit.processStop('Bun', bunCommand, ['run'])
  const deno = kit.processStop('Deno', denoCommand, ['run', '--allow-read'])
  const { executablePath } = await ensureChromium()
  const [page, edge] = await Promise.all([kit.pageStop(executablePath), kit.edgeStop()])
  try {
    const straight = await node.travel({ everywhere: true })
    const calls = straight.waypoints.length
    for (const stop of [node, node24]) {
      await finishFromEverywhere(stop, straight)
      console.log(`${stop.name.padEnd(16)} from each of ${calls} suspension points, each in a new process`)
    }
    const trip = await roundTrip([node, bun, page, deno, edge, node24], calls)
    tellDifferences(differences(trip, straight))
    console.log('travelled        by way of')
    for (const { stop, digests, checkpointBytes = 0 } of trip.hops) {
      const left = checkpointBytes === 0 ? 'arrived' : `left with ${checkpointBytes} bytes`
      console.log(`  ${stop.padEnd(14)} calls ${digests[0]?.[0]} to ${digests.at(-1)?.[0]}, ${left}`)
    }
    console.log(`  ${trip.arrival.stateDigest}`)
  } finally {
    await Promise.all([page.close(), edge.close()])
    kit.dispose()
  }
}

function tellDifferences(lines: readonly string[]): void {
  found += lines.length
  for (const line of lines) console.log(`  DIFFERENT: ${line}`)
}

const node24Command = bringCommand('node@24', 'node')
const bunCommand = bringCommand('bun@1', 'bun')
const denoCommand = bringCommand('deno@2', 'deno')

const runtimes: Readonly<Record<string, () => Report | Promise<Report>>> = {
  [`Node ${process.versions.node}`]: () => runProbe(process.execPath, []),
  'Node 24': () => runProbe(node24Command, []),
  Bun: () => runProbe(bunCommand, ['run']),
  Deno: () => runProbe(denoCommand, ['run', '--allow-read']),
  Chromium: runInChromium,
}

let reference: Report | undefined
for (const [name, run] of Object.entries(runtimes)) {
  const report = await run()
  reference ??= report
  const different = Object.keys(reference.results).filter(
    (program) => JSON.stringify(report.results[program]) !== JSON.stringify(reference?.results[program]),
  )
  if (report.engine !== reference.engine) different.unshift('engine')
  found += different.length
  const count = Object.keys(report.results).length
  console.log(`${name.padEnd(16)} ${different.length === 0 ? `${count} programs equal` : 'DIFFERENT'}`)
  for (const program of different) {
    console.log(`  ${program}\n    here: ${JSON.stringify(report.results[program])}`)
    console.log(`    reference: ${JSON.stringify(reference.results[program])}`)
  }
}
await travelThroughAll()
process.exitCode = found === 0 ? 0 : 1
