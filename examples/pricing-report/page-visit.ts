/** A real browser, without a window, and the pages that it opens. */
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { CHROMIUM_SOURCES } from '../../scripts/chromium/sources.ts'
import { ensureChromium } from '../../scripts/ensure-chromium.ts'
import type { OpenRequest, Outcome, Plan, PlanOutcome } from '../../src/entry/node.ts'
import type { PackedRun } from './packed-run.ts'
import type { ToolCall } from './page-tools.ts'
import type { ToolServer } from './tool-server.ts'

/** What the pages are given. */
export interface PageWorld {
  readonly run: PackedRun
  readonly plan: Plan
  readonly tools: ToolServer
}

export interface PageVisit {
  /** Name and version of the browser. */
  readonly browser: string
  /** Serves the pages; what follows is asked of them. */
  enter(world: PageWorld): Promise<void>
  /** A page takes the program again, from its checkpoint to its end. */
  repeat(): Promise<Outcome>
  /** A tab runs the plan until it waits for the person, and is closed. */
  begin(input: unknown): Promise<{ readonly outcome: PlanOutcome; readonly requests: readonly OpenRequest[] }>
  /** Another tab goes on with it, once the person has agreed in it. */
  agree(): Promise<PlanOutcome>
  close(): Promise<void>
}

/** Those that need neither a download nor a minute. */
const SOURCES = CHROMIUM_SOURCES.filter(({ name }) => ['env', 'system', 'package'].includes(name))
const ENGINE = new URL('../../engines/current/', import.meta.url)
const HTML =
  '<!doctype html><title>A run</title><link rel="icon" href="data:," /><script type="module" src="/page.js"></script>'
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:"

/** Builds the page and starts the browser. @throws Error when there is none, with what to do */
export async function openPageVisit(): Promise<PageVisit> {
  const [{ executablePath }, { chromium }, script] = await Promise.all([
    ensureChromium({ sources: SOURCES, say: () => {} }),
    import('playwright'),
    buildPage(),
  ])
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  const context = await browser.newContext()
  let server: Server | undefined
  const inTab = async <T>(ask: (input: unknown) => Promise<T>, input: unknown = null): Promise<T> => {
    if (server === undefined) throw new Error('Enter first.')
    const { port } = server.address() as AddressInfo
    const page = await context.newPage()
    try {
      await page.goto(`http://127.0.0.1:${port}/`)
      await page.waitForFunction(() => 'story' in globalThis)
      return (await page.evaluate(ask as never, input)) as T
    } finally {
      await page.close()
    }
  }
  return {
    browser: `Chromium ${browser.version().split('.')[0]}`,
    enter: async (world) => {
      server = await serve(script, world)
    },
    repeat: () => inTab(() => globalThis.story.repeat()),
    begin: (input) => inTab((given) => globalThis.story.begin(given), input),
    agree: () => inTab(() => globalThis.story.agree()),
    close: async () => {
      server?.closeAllConnections()
      server?.close()
      await browser.close()
    },
  }
}

async function buildPage(): Promise<string> {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('./page.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'error',
  })
  return outputFiles[0]?.text ?? ''
}

async function serve(script: string, { run, plan, tools }: PageWorld): Promise<Server> {
  const files: Readonly<Record<string, readonly [type: string, body: string | Uint8Array]>> = {
    '/': ['text/html', HTML],
    '/page.js': ['text/javascript', script],
    '/engine.wasm': ['application/wasm', await readFile(new URL('v8.wasm', ENGINE))],
    '/run.json': ['application/json', JSON.stringify(run)],
    '/plan.json': ['application/json', JSON.stringify(plan)],
    '/tools.json': ['application/json', JSON.stringify(tools.descriptions)],
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '' } = request
    const head = { 'content-security-policy': POLICY, 'cache-control': 'no-store' }
    if (method === 'POST' && url.startsWith('/tools/')) {
      const call = JSON.parse(await text(request)) as ToolCall
      response.writeHead(200, { ...head, 'content-type': 'application/json' })
      response.end(JSON.stringify(await tools.answer(url.slice('/tools/'.length), call)))
      return
    }
    const [type, body] = files[url] ?? []
    if (type === undefined) response.writeHead(404).end()
    else response.writeHead(200, { ...head, 'content-type': `${type}; charset=utf-8` }).end(body)
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
