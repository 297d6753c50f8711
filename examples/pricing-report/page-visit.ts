/** A real browser, without a window, and the page that it opens. */
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { CHROMIUM_SOURCES } from '../../scripts/chromium/sources.ts'
import { ensureChromium } from '../../scripts/ensure-chromium.ts'
import type { Outcome } from '../../src/entry/node.ts'
import type { PackedRun } from './packed-run.ts'

export interface PageVisit {
  /** Name and version of the browser. */
  readonly browser: string
  /** Gives the page the run, and waits until it has ended there. */
  repeat(run: PackedRun): Promise<Outcome>
  close(): Promise<void>
}

/** Those that need neither a download nor a minute. */
const SOURCES = CHROMIUM_SOURCES.filter(({ name }) => ['env', 'system', 'package'].includes(name))
const ENGINE = new URL('../../engines/current/v8.wasm', import.meta.url)
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
  return {
    browser: `Chromium ${browser.version().split('.')[0]}`,
    repeat: async (run) => {
      const server = await serve({
        '/': ['text/html', HTML],
        '/page.js': ['text/javascript', script],
        '/engine.wasm': ['application/wasm', await readFile(ENGINE)],
        '/run.json': ['application/json', JSON.stringify(run)],
      })
      try {
        const page = await browser.newPage()
        await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
        await page.waitForFunction(() => 'repeated' in globalThis)
        return await page.evaluate(() => globalThis.repeated)
      } finally {
        server.closeAllConnections()
        server.close()
      }
    },
    close: () => browser.close(),
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

async function serve(
  files: Readonly<Record<string, readonly [type: string, body: string | Uint8Array]>>,
): Promise<Server> {
  const server = createServer((request, response) => {
    const [type, body] = files[request.url ?? ''] ?? []
    if (type === undefined) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY })
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
