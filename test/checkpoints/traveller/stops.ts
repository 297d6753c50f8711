/** The places where a travelling guest can stop: processes, a page in Chromium, workerd. All run the same source. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { chromium } from 'playwright'
import { servePage } from '../../browser/page-server.ts'
import type { Leg, Stopover } from './journey.ts'

const HERE: string = import.meta.dirname
const ROOT: string = fileURLToPath(new URL('../../..', import.meta.url))

export interface Stop {
  readonly name: string
  travel(leg: Leg): Promise<Stopover>
  close(): Promise<void>
}

/** The bundles of all stops, in a folder of their own. Dispose of it when no stop is open any more. */
export interface TravelKit {
  /** Every leg runs in a new process of that command. */
  processStop(name: string, command: string, args?: readonly string[]): Stop
  /** Every leg runs in a new page, which knows nothing of the ones before. */
  pageStop(executablePath: string): Promise<Stop>
  edgeStop(): Promise<Stop>
  dispose(): void
}

export async function packTravelKit(): Promise<TravelKit> {
  const folder = mkdtempSync(join(tmpdir(), 'caisson-travel-'))
  // Two levels down: the entries look for the engine from where they stand in the package.
  const bundles = join(folder, 'a/b')
  await Promise.all([
    bundle('process', bundles, { platform: 'node' }),
    bundle('page', bundles, {}),
    bundle('worker', bundles, { conditions: ['workerd'], external: ['./engine.wasm'] }),
  ])
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  cpSync(join(ROOT, 'engines'), join(folder, 'engines'), { recursive: true })
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><link rel="icon" href="data:," /><script type="module" src="/a/b/page.js"></script>',
  )
  return {
    processStop: (name, command, args = []) => ({
      name,
      travel: (leg) => inProcess(command, [...args, join(bundles, 'process.js')], leg),
      close: () => Promise.resolve(),
    }),
    pageStop: (executablePath) => openPageStop(folder, executablePath),
    edgeStop: () => openEdgeStop(join(bundles, 'worker.js')),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function bundle(
  name: string,
  outdir: string,
  options: { platform?: 'node'; conditions?: string[]; external?: string[] },
): Promise<void> {
  await build({
    entryPoints: [join(HERE, `${name}.ts`)],
    outdir,
    bundle: true,
    format: 'esm',
    logLevel: 'error',
    ...options,
  })
}

async function inProcess(command: string, args: readonly string[], leg: Leg): Promise<Stopover> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  child.stdin.end(JSON.stringify(leg))
  const [output, complaint] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = (await ended) as [number | null]
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${complaint}`)
  return JSON.parse(output) as Stopover
}

async function openPageStop(folder: string, executablePath: string): Promise<Stop> {
  const server = await servePage(folder)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  return {
    name: 'Chromium',
    travel: async (leg) => {
      const page = await browser.newPage()
      try {
        await page.goto(server.url)
        await page.waitForFunction(() => 'travelHere' in globalThis)
        return await page.evaluate((one) => globalThis.travelHere(one), leg)
      } finally {
        await page.close()
      }
    },
    close: async () => {
      await browser.close()
      await server.close()
    },
  }
}

async function openEdgeStop(worker: string): Promise<Stop> {
  const miniflare = new Miniflare({
    compatibilityDate: '2026-01-01',
    modules: [
      { type: 'ESModule', path: 'worker.js', contents: readFileSync(worker, 'utf8') },
      {
        type: 'CompiledWasm',
        path: 'engine.wasm',
        contents: readFileSync(join(ROOT, 'engines/current/v8.wasm')),
      },
    ],
  })
  await miniflare.ready
  return {
    name: 'workerd',
    travel: async (leg) => {
      const response = await miniflare.dispatchFetch('http://localhost/', {
        method: 'POST',
        body: JSON.stringify(leg),
      })
      if (!response.ok) throw new Error(`workerd answered ${response.status}: ${await response.text()}`)
      return (await response.json()) as Stopover
    },
    close: () => miniflare.dispose(),
  }
}
