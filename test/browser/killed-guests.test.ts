/**
 * Components and modules that are killed in the middle of a call: what was kept of them goes on in another process, and in
 * a page, as if nothing had been.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BINARYEN_VERSION, loadBinaryenAsyncify } from '../../host-bindings/asyncify/binaryen-asyncify.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { toBase64 } from '../../src/base/base64.ts'
import { prepareCore } from '../../src/component/core/prepare-core.ts'
import { buildComponent } from '../../src/component/prebuilt.ts'
import { waitOptions } from '../../src/component/wait-options.ts'
import { openRuntime } from '../../src/entry/node.ts'
import {
  type Arrival,
  COMPONENT_OPTIONS,
  type ComponentLeg,
  type Leg,
  type ModuleLeg,
  sayer,
} from '../components/traveller/legs.ts'
import { ROOT } from '../docs/documented-pages.ts'
import { launchChromium } from './open-page.ts'
import { type PageServer, servePage } from './page-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'caisson-killed-'))
let browser: Browser
let server: PageServer
let page: Page

beforeAll(async () => {
  const bundle = (name: string, platform: 'node' | 'browser'): Promise<unknown> =>
    build({
      entryPoints: [join(ROOT, `test/components/traveller/${name}.ts`)],
      // Two levels down: the entries look for the engine from where they stand in the package.
      outdir: join(folder, 'a/b'),
      bundle: true,
      format: 'esm',
      logLevel: 'error',
      platform,
      // What these guests take was prepared before.
      external: ['binaryen', 'esbuild'],
    })
  await Promise.all([bundle('process', 'node'), bundle('page', 'browser')])
  cpSync(join(ROOT, 'engines'), join(folder, 'engines'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(folder, 'index.html'),
    '<!doctype html><link rel="icon" href="data:," /><script type="module" src="/a/b/page.js"></script>',
  )
  server = await servePage(folder)
  browser = await launchChromium()
  page = await browser.newPage()
  await page.goto(server.url)
  await page.waitForFunction(() => 'goOnHere' in window)
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** In a new process, to the end. */
async function inProcess(leg: Leg): Promise<Arrival> {
  const child = spawn(process.execPath, [join(folder, 'a/b/process.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(JSON.stringify(leg))
  return JSON.parse(await text(child.stdout)) as Arrival
}

/** In a new process, which is killed as soon as it says what it left. */
async function killed(leg: Leg): Promise<Arrival> {
  const child = spawn(process.execPath, [join(folder, 'a/b/process.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  child.stdin.end(JSON.stringify(leg))
  let said = ''
  for await (const part of child.stdout.setEncoding('utf8')) {
    said += part as string
    if (said.endsWith('\n')) break
  }
  child.kill('SIGKILL')
  expect(await closed).toEqual([null, 'SIGKILL'])
  return JSON.parse(said) as Arrival
}

const inPage = (leg: Leg): Promise<Arrival> => page.evaluate((one) => window.goOnHere(one), leg)

const legs = new Map<string, Promise<ComponentLeg>>()
const ends = new Map<string, Promise<Arrival>>()

/** Once for all tests. */
function kept<T>(
  made: Map<string, Promise<T>>,
  sample: string,
  make: (sample: string) => Promise<T>,
): Promise<T> {
  const known = made.get(sample) ?? make(sample)
  made.set(sample, known)
  return known
}

const componentLeg = (sample: string): Promise<ComponentLeg> => kept(legs, sample, makeLeg)
/** From the bytes, in this process, without a stop. */
const straight = (sample: string): Promise<Arrival> => kept(ends, sample, goStraight)

async function makeLeg(sample: string): Promise<ComponentLeg> {
  const waits = waitOptions(['hostCall'], BINARYEN_VERSION, async (core, how) =>
    prepareCore(core, { ...how, asyncify: await loadBinaryenAsyncify() }),
  )
  const { manifest, files } = await buildComponent(
    await readSample(sample),
    { profile: 'portable', maxMemoryPages: 64, waits },
    () => performance.now(),
  )
  const encoded = [...files].map(([name, bytes]) => [name, toBase64(bytes)] as const)
  return { kind: 'component', manifest, files: Object.fromEntries(encoded) }
}

async function goStraight(sample: string): Promise<Arrival> {
  await using runtime = await openRuntime(sayer())
  const component = await runtime.openComponent(await readSample(sample), COMPONENT_OPTIONS)
  const outcome = await component.call('run', ['a\nb\nc'])
  const { status, usage } = outcome
  const value = outcome.status === 'completed' ? outcome.value : outcome
  return { status, value, fuel: usage.fuel, digest: component.stateDigest() }
}

describe('a component that is killed in the middle of a call', () => {
  it.each(['tool-c', 'tool-as'])(
    'finishes in a process and in a page with the digest of %s',
    async (sample) => {
      const leg = await componentLeg(sample)
      const whole = await straight(sample)
      expect(whole).toMatchObject({
        status: 'completed',
        value: { tag: 'ok', val: expect.stringMatching(/^said .*"c"/s) },
      })
      const { status, from } = await killed({ ...leg, stopAtCall: 2 })
      expect(status).toBe('suspended')
      const rest = { ...leg, from: from as string }
      expect(await inProcess(rest)).toEqual(whole)
      expect(await inPage(rest)).toEqual(whole)
    },
  )

  it('is asked again for what nobody can have changed', async () => {
    const leg = await componentLeg('tool-as')
    const { status, from } = await killed({ ...leg, stuckAtCall: 3 })
    expect(status).toBe('stuck')
    expect(await inPage({ ...leg, from: from as string })).toEqual(await straight('tool-as'))
  })

  it('comes from a page as well', async () => {
    const leg = await componentLeg('tool-c')
    const { from } = await inPage({ ...leg, stopAtCall: 1 })
    expect(await inProcess({ ...leg, from: from as string })).toEqual(await straight('tool-c'))
  })
})

describe('a module that is killed in the middle of a call', () => {
  it.each([
    ['asking-c', '_start'],
    ['asking-as', 'total'],
  ])('finishes in a process and in a page with the digest of %s', async (sample, entry) => {
    await using runtime = await openRuntime()
    const bytes = readFileSync(join(ROOT, `guest/samples/built/${sample}.wasm`))
    const { wasm, ...described } = await runtime.prepareModule(bytes)
    const leg: ModuleLeg = { kind: 'module', module: { ...described, wasm: toBase64(wasm) }, entry }
    const whole = await inProcess(leg)
    expect(whole).toMatchObject({ status: 'completed', digest: expect.stringMatching(/^sha256:/) })
    const { status, from } = await killed({ ...leg, stopAtCall: 3 })
    expect(status).toBe('suspended')
    const rest = { ...leg, from } as ModuleLeg
    expect(await inProcess(rest)).toEqual(whole)
    expect(await inPage(rest)).toEqual(whole)
  })
})
