/** Components in real Chromium, under `script-src 'self' 'wasm-unsafe-eval'`: what `caisson build` wrote, and bare bytes. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { type Limits, openRuntime } from '../../src/entry/node.ts'
import { ROOT } from '../docs/documented-pages.ts'
import type { Calls, OpenedInPage } from './component-page/main.ts'
import { HOST_CALL, toldRun } from './component-page/told-run.ts'
import { bundlePage, launchChromium } from './open-page.ts'
import { type PageServer, servePage } from './page-server.ts'

/** Of these the stack is held where they wait. */
const HELD = ['tool-c', 'tool-as', 'tool-js', 'hostile-c'] as const

let browser: Browser
let server: PageServer
let page: Page
const site = mkdtempSync(join(tmpdir(), 'caisson-component-page-'))
const problems: string[] = []

beforeAll(async () => {
  browser = await launchChromium()
  await bundlePage('component-page', site)
  mkdirSync(join(site, 'bytes'))
  for (const name of ['types-c', 'tool-c', 'tool-as']) {
    const file = join(site, `bytes/${name}.wasm`)
    writeFileSync(file, await readSample(name))
    const cli = join(ROOT, 'dist/src/cli/main.js')
    execFileSync(process.execPath, [cli, 'build', file, '--out', join(site, name), '--memory', '16MiB'])
  }
  for (const name of HELD) writeFileSync(join(site, `bytes/${name}.wasm`), await readSample(name))
  server = await servePage(site)
  page = await browser.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  await page.goto(server.url)
  await page.waitForFunction(() => 'callBytes' in window)
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
  rmSync(site, { recursive: true, force: true })
})

const called = (folder: string, calls: Calls): Promise<OpenedInPage> =>
  page.evaluate(([f, c]) => window.callComponent(f, c), [folder, calls] as const)

describe('a page whose policy allows wasm-unsafe-eval and no other code than its own', () => {
  it('opens what caisson build wrote, and calls its exports', async () => {
    const { outcomes } = await called('types-c', [
      ['add-u8', [200, 55]],
      ['swap', [[7, 'grüße']]],
      ['parse', ['-12']],
      ['morph', [{ tag: 'circle', val: 2 }]],
    ])
    expect(outcomes).toMatchObject([
      { status: 'completed', value: 255 },
      { status: 'completed', value: ['grüße', 7] },
      { status: 'completed', value: { tag: 'ok', val: -12 } },
      { status: 'completed', value: { tag: 'label' } },
    ])
    expect(problems).toEqual([])
  })

  it.each(['tool-c', 'tool-as'])('answers what %s asks its host in the middle of a call', async (name) => {
    const wanted = { tag: 'ok', val: 'echo({"line":"a"})\necho({"line":"b"})' }
    expect(await called(name, [['run', ['a\nb']]])).toMatchObject({
      outcomes: [{ status: 'completed', value: wanted }],
    })
    expect(problems).toEqual([])
  })

  it('meters and opens bare bytes too, with the fuel that Node counts', async () => {
    const calls = [['run', ['a\nb']]] as const
    const [built, bare] = await Promise.all([
      called('tool-c', calls),
      page.evaluate((c) => window.callBytes('/bytes/tool-c.wasm', c), calls),
    ])
    expect(bare.outcomes).toMatchObject([{ status: 'completed' }])
    const fuel = (opened: OpenedInPage): unknown =>
      (opened.outcomes[0] as { usage: { fuel: number } }).usage.fuel
    expect(fuel(bare)).toBe(fuel(built))
    expect(fuel(bare)).toBeGreaterThan(0)
    expect(problems).toEqual([])
  })

  it('refuses a file that was changed, and a manifest that was', async () => {
    const core = join(site, 'types-c/core-0.wasm')
    const whole = readFileSync(core)
    const changed = new Uint8Array(whole)
    changed[500] = (changed[500] as number) ^ 1
    writeFileSync(core, changed)
    expect(await called('types-c', [])).toEqual({ outcomes: [], refused: 'corrupted' })
    writeFileSync(core, whole)
    const manifest = join(site, 'types-c/component.json')
    writeFileSync(
      manifest,
      readFileSync(manifest, 'utf8').replace('"maxMemoryPages":256', '"maxMemoryPages":255'),
    )
    expect(await called('types-c', [])).toEqual({ outcomes: [], refused: 'corrupted' })
    expect(problems).toEqual([])
  })
})

describe('a component whose stack is held where it waits', () => {
  /** The same, executed again where it waits, here. */
  const executedAgain = async (
    name: string,
    args: readonly unknown[],
    limits: Partial<Limits>,
  ): Promise<unknown> => {
    await using runtime = await openRuntime({ capabilities: [HOST_CALL] })
    const options = { grants: ['hostCall'], args, limits, wasi: {}, suspension: 'reexecute' } as const
    return toldRun(await runtime.runComponent(await readSample(name), options))
  }
  const held = (name: string, args: readonly unknown[], limits: Partial<Limits>): Promise<unknown> =>
    page.evaluate(([n, a, l]) => window.runHeld(`/bytes/${n}.wasm`, a, l), [name, args, limits] as const)

  it.each(['tool-c', 'tool-as', 'tool-js'])(
    '%s gives what it gives in Node, at the same cost',
    async (name) => {
      const limits = { fuel: 2 ** 40 }
      const ran = await held(name, ['a\nb\nc'], limits)
      expect(ran).toMatchObject({ status: 'completed', calls: 3 })
      expect(ran).toEqual(await executedAgain(name, ['a\nb\nc'], limits))
      expect(problems).toEqual([])
    },
  )

  it.each([
    'none',
    'loop',
    'recursion',
    'flood',
    'trap',
    'pointer',
    'edge',
    'host-realloc-trap',
    'host-pointer',
    'host-loop',
    'post-loop',
  ])('ends where it does everything that it can to its host: %s', async (attack) => {
    const limits = { fuel: 20_000_000, calls: 5, memoryBytes: 16 * 1024 * 1024 }
    expect(await held('hostile-c', [attack, 'text'], limits)).toEqual(
      await executedAgain('hostile-c', [attack, 'text'], limits),
    )
    expect(problems).toEqual([])
  })

  it('is busy while it waits, has no checkpoint then, and is let go of in the middle', async () => {
    const done = await page.evaluate(() => window.holdComponent('/bytes/tool-c.wasm'))
    expect(done).toEqual([['suspended', 'busy', 'busy', 'unsupported'], 'completed', [1, 37], 'aborted'])
    expect(problems).toEqual([])
  })
})
