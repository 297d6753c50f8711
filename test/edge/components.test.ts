/** A component in real workerd, which refuses to compile WebAssembly at run time: what `caisson build` wrote is imported. */
import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BINARYEN_VERSION, loadBinaryenAsyncify } from '../../host-bindings/asyncify/binaryen-asyncify.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { toBase64 } from '../../src/base/base64.ts'
import { prepareCore } from '../../src/component/core/prepare-core.ts'
import { buildComponent } from '../../src/component/prebuilt.ts'
import type { PrebuiltManifest } from '../../src/component/prebuilt-manifest.ts'
import type { PrepareOptions } from '../../src/component/prepare-component.ts'
import { waitOptions } from '../../src/component/wait-options.ts'
import { openRuntime } from '../../src/entry/node.ts'

const here = new URL('.', import.meta.url)
let miniflare: Miniflare
let manifest: PrebuiltManifest
/** Of the same, built without. */
let plain: PrebuiltManifest

const waits = waitOptions(['hostCall'], BINARYEN_VERSION, async (core, how) =>
  prepareCore(core, { ...how, asyncify: await loadBinaryenAsyncify() }),
)
const built = async (
  name: string,
  waiting?: Pick<PrepareOptions, 'waits'>,
): ReturnType<typeof buildComponent> =>
  buildComponent(await readSample(name), { profile: 'portable', maxMemoryPages: 256, ...waiting }, () =>
    performance.now(),
  )

beforeAll(async () => {
  const bundle = await build({
    entryPoints: [new URL('component-worker.ts', here).pathname],
    bundle: true,
    format: 'esm',
    write: false,
    external: ['./*.wasm'],
    conditions: ['workerd'],
  })
  const [tool, types, without] = await Promise.all([
    built('tool-c', { waits }),
    built('types-c'),
    built('tool-c'),
  ])
  manifest = JSON.parse(JSON.stringify(tool.manifest)) as PrebuiltManifest
  plain = JSON.parse(JSON.stringify(without.manifest)) as PrebuiltManifest
  const modules = {
    'engine.wasm': readFileSync(new URL('../../engines/current/v8.wasm', here)),
    ...Object.fromEntries(tool.files),
    ...Object.fromEntries([...without.files].map(([file, bytes]) => [file.replace('core', 'plain'), bytes])),
    'other.wasm': types.files.get('core-0.wasm') as Uint8Array,
  }
  miniflare = new Miniflare({
    compatibilityDate: '2026-01-01',
    modules: [
      { type: 'ESModule', path: 'worker.mjs', contents: bundle.outputFiles[0]?.text ?? '' },
      ...Object.entries(modules).map(
        ([path, contents]) =>
          ({ type: 'CompiledWasm', path, contents: contents as Uint8Array<ArrayBuffer> }) as const,
      ),
    ],
  })
  await miniflare.ready
})
afterAll(() => miniflare?.dispose())

async function callInWorkerd(job: Record<string, unknown>): Promise<unknown> {
  const response = await miniflare.dispatchFetch('http://localhost/', {
    method: 'POST',
    body: JSON.stringify({ manifest, calls: [], given: 'cores', ...job }),
  })
  return response.json()
}

describe('a component in workerd', () => {
  it('is opened from modules of the bundle, called, and answered by its host', async () => {
    const calls = [
      ['run', ['a\nb']],
      ['totals', []],
    ]
    const text = 'echo({"line":"a"})\necho({"line":"b"})'
    expect(await callInWorkerd({ calls })).toMatchObject({
      outcomes: [
        { status: 'completed', value: { tag: 'ok', val: text } },
        { status: 'completed', value: [1, text.length] },
      ],
    })
  })

  it('goes on there in the middle of a call that began in Node, without anything that makes components wait', async () => {
    await using runtime = await openRuntime({
      capabilities: [
        {
          name: 'hostCall',
          description: 'Says what it is told.',
          effect: 'read',
          invoke: async (input) => `said ${(input as { arguments: string }).arguments}`,
        },
      ],
    })
    const options = { grants: ['hostCall'], seed: 7, nowMs: 1_700_000_000_000 }
    const component = await runtime.openComponent(await readSample('tool-c'), options)
    expect(await component.call('run', ['a\nb'], { stopAtCall: 2 })).toMatchObject({ status: 'suspended' })
    const from = toBase64(await component.checkpoint())
    const { status, usage } = await component.goOn()
    const here = { status, fuel: usage.fuel, digest: component.stateDigest() }
    expect(here.status).toBe('completed')
    expect(await callInWorkerd({ from })).toEqual(here)
  })

  it('waits there where it was not built to: executed again, or with its stack held', async () => {
    const run = (waits: string): Promise<unknown> => callInWorkerd({ manifest: plain, given: 'plain', waits })
    const again = await run('reexecute')
    const value = ['a', 'b', 'c'].map((text) => `said {"line":"${text}"}`).join('\n')
    expect(again).toMatchObject({ status: 'completed', value, usage: { calls: 3 } })
    expect(await run('jspi')).toEqual(again)
    expect(await run('somehow')).toEqual(again)
  })

  it('is refused with modules of another build, bytes of others, and a manifest that was changed', async () => {
    const refused = { refused: 'corrupted' }
    expect(await callInWorkerd({ given: 'other' })).toEqual(refused)
    expect(await callInWorkerd({ given: 'bytes' })).toEqual(refused)
    expect(await callInWorkerd({ manifest: { ...manifest, maxMemoryPages: 255 } })).toEqual(refused)
  })
})
