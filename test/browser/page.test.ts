/** The browser entry in real Chromium, bundled by Vite and by esbuild, under a strict content security policy. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as esbuild } from 'esbuild'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Outcome, openRuntime, type Plan, type RunOptions } from '../../src/entry/node.ts'
import { bundlePage, launchChromium, PUBLISHED } from './open-page.ts'
import { type PageServer, servePage } from './page-server.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = join(root, 'test/browser/page')

let browser: Browser
const scratch = mkdtempSync(join(tmpdir(), 'caisson-page-'))

beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(async () => {
  await browser?.close()
  rmSync(scratch, { recursive: true, force: true })
})

async function bundleWithVite(): Promise<string> {
  const outDir = join(scratch, 'vite')
  await bundlePage('page', outDir)
  return outDir
}

/** esbuild leaves `new URL(..., import.meta.url)` alone: the files go where the bundle looks for them. */
async function bundleWithEsbuild(): Promise<string> {
  const outDir = join(scratch, 'esbuild')
  mkdirSync(join(outDir, 'a/b'), { recursive: true })
  await esbuild({
    entryPoints: { main: join(source, 'main.ts'), worker: join(root, 'dist/src/entry/worker.js') },
    bundle: true,
    format: 'esm',
    outdir: join(outDir, 'a/b'),
    alias: PUBLISHED,
    logLevel: 'error',
  })
  cpSync(join(root, 'dist/engines'), join(outDir, 'engines'), { recursive: true })
  writeFileSync(
    join(outDir, 'index.html'),
    '<!doctype html><script type="module" src="/a/b/main.js"></script>',
  )
  return outDir
}

for (const [bundler, bundle] of Object.entries({ Vite: bundleWithVite, esbuild: bundleWithEsbuild })) {
  describe(`a page bundled by ${bundler}`, () => {
    let server: PageServer
    let page: Page
    const problems: string[] = []

    beforeAll(async () => {
      server = await servePage(await bundle())
      page = await browser.newPage()
      page.on('pageerror', (error) => problems.push(error.message))
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text())
      })
      await page.goto(server.url)
      await page.waitForFunction(() => 'runAndTick' in window)
    })
    afterAll(async () => {
      await page?.close()
      await server?.close()
    })

    // The page has the package as it is published: its types are those of another copy.
    const run = (program: string, options: RunOptions = {}): Promise<Outcome> =>
      page.evaluate(([p, o]) => window.runGuest(p, o), [
        program,
        options,
      ] as const) as Promise<unknown> as Promise<Outcome>

    it('runs a guest with a granted capability', async () => {
      const outcome = await run('const { price } = await prices.lookup({ sku: input }); return price * 2', {
        input: 'A-100',
        grants: ['prices.lookup'],
      })
      expect(outcome).toMatchObject({ status: 'completed', value: 15 })
      expect(problems).toEqual([])
    })

    it('ends a guest at its limits, in the thread of the page', async () => {
      expect(await run('while (1);', { limits: { fuel: 20_000_000 } })).toMatchObject({ limit: 'fuel' })
      expect(await run('while (1);', { limits: { fuel: 2 ** 52, wallMs: 50 } })).toMatchObject({
        limit: 'wall',
      })
      expect(await run('const a = []; for (;;) a.push({})')).toMatchObject({ limit: 'memory' })
      expect(await run('(function f() { f() })()')).toMatchObject({ limit: 'stack' })
    })

    const downloads = (): Promise<readonly string[]> =>
      page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))

    it('reads TypeScript, and downloads what that takes only then', async () => {
      const before = await downloads()
      const outcome = await run('enum A { X = 6 }\nconst f = (x: number): number => x * A.X\nf(7)')
      expect(outcome).toMatchObject({ status: 'completed', value: 42 })
      // esbuild puts all into one file unless it is told to split.
      const fresh = (await downloads()).filter((name) => !before.includes(name))
      expect(fresh.filter((name) => /typescript/.test(name))).toHaveLength(bundler === 'Vite' ? 1 : 0)
      expect(problems).toEqual([])
    })

    it('runs a plan, and downloads what that takes only then', async () => {
      const plan: Plan = {
        format: 'plan/1',
        name: 'prices',
        version: '1',
        grants: ['prices.lookup'],
        nodes: {
          double: {
            kind: 'program',
            source: 'return (await prices.lookup({ sku: input })).price * 2',
            input: { $from: 'input' },
            grants: ['prices.lookup'],
          },
        },
        output: { $from: 'double' },
      }
      const before = await downloads()
      // The page has types of its own copy of the package.
      const end = await page.evaluate(([p, i]) => window.runPlan(p, i), [plan as never, 'A-100'] as const)
      expect(end).toMatchObject({ status: 'completed', output: 15 })
      const fresh = (await downloads()).filter((name) => !before.includes(name))
      expect(fresh.filter((name) => /plan-runs/.test(name))).toHaveLength(bundler === 'Vite' ? 1 : 0)
      expect(problems).toEqual([])
    })

    it('uses the same fuel and ends in the same state as in Node', async () => {
      const program =
        "const m = new Map([['a', [1, 2]]]); let n = 0; for (const x of 'hello') n += x.length; return [m.size, n, Math.random()]"
      const options: RunOptions = { seed: 1, stateDigest: true }
      const there = await run(program, options)
      const runtime = await openRuntime()
      const here = await runtime.run(program, options)
      await runtime.close()
      expect(there.usage.fuel).toBe(here.usage.fuel)
      expect(there.stateDigest).toBe(here.stateDigest)
    })

    it('gives a guest an answer event by event, while the server waits for what it has seen', async () => {
      const outcome = await run(
        `const seen = []
         for await (const chunk of (await fetch(input + 'events')).body) {
           seen.push(new TextDecoder().decode(chunk).trim())
           await (await fetch(input + 'seen')).text()
         }
         return seen`,
        { input: server.url, grants: ['net.fetch'] },
      )
      expect(outcome).toMatchObject({ status: 'completed', value: ['data: 1', 'data: 2', 'data: 3'] })
      expect(problems).toEqual([])
    })

    it('lets the page live while a guest computes in a Worker', async () => {
      const { outcome, ticks } = await page.evaluate(() =>
        window.runAndTick('while (1);', { thread: 'worker', limits: { fuel: 2 ** 52, wallMs: 400 } }),
      )
      expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
      expect(ticks).toBeGreaterThan(10)
      expect(problems).toEqual([])
    })
  })
}
