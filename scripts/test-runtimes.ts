/**
 * Runs the same programs on every runtime and compares fuel, values and final states: `npm run test:runtimes`.
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
import { ensureChromium } from './ensure-chromium.ts'
import { bringCommand } from './runtimes/bring-command.ts'

interface Report {
  readonly engine: string
  readonly results: Readonly<Record<string, readonly unknown[]>>
}

const root = fileURLToPath(new URL('..', import.meta.url))
const probe = join(root, 'scripts/runtimes/probe.mjs')

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

const runtimes: Readonly<Record<string, () => Report | Promise<Report>>> = {
  [`Node ${process.versions.node}`]: () => runProbe(process.execPath, []),
  'Node 24': () => runProbe(bringCommand('node@24', 'node'), []),
  Bun: () => runProbe(bringCommand('bun@1', 'bun'), ['run']),
  Deno: () => runProbe(bringCommand('deno@2', 'deno'), ['run', '--allow-read']),
  Chromium: runInChromium,
}

let reference: Report | undefined
let differences = 0
for (const [name, run] of Object.entries(runtimes)) {
  const report = await run()
  reference ??= report
  const different = Object.keys(reference.results).filter(
    (program) => JSON.stringify(report.results[program]) !== JSON.stringify(reference?.results[program]),
  )
  if (report.engine !== reference.engine) different.unshift('engine')
  differences += different.length
  const count = Object.keys(report.results).length
  console.log(`${name.padEnd(16)} ${different.length === 0 ? `${count} programs equal` : 'DIFFERENT'}`)
  for (const program of different) {
    console.log(`  ${program}\n    here: ${JSON.stringify(report.results[program])}`)
    console.log(`    reference: ${JSON.stringify(reference.results[program])}`)
  }
}
process.exitCode = differences === 0 ? 0 : 1
