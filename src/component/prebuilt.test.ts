import { describe, expect, it } from 'vitest'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { sha256 } from '../base/digest.ts'
import { parseLimits } from '../machine/limits.ts'
import { hostInterfaces } from './component-imports.ts'
import { openComponentInstance } from './component-instance.ts'
import { buildComponent, loadPrebuilt } from './prebuilt.ts'
import type { PrebuiltManifest } from './prebuilt-manifest.ts'

const monotonic = (): number => performance.now()
const built = async (): ReturnType<typeof buildComponent> =>
  buildComponent(await readSample('types-c'), { profile: 'portable', maxMemoryPages: 64 }, monotonic)

/** As it comes back from files. */
function reread(manifest: PrebuiltManifest): PrebuiltManifest {
  return JSON.parse(JSON.stringify(manifest)) as PrebuiltManifest
}

describe('a component that was built before', () => {
  it('does what it does', async () => {
    const { manifest, files } = await built()
    const compiled = new WebAssembly.Module(files.get('core-0.wasm') as Uint8Array<ArrayBuffer>)
    for (const read of [
      (file: string) => files.get(file) as Uint8Array,
      (): WebAssembly.Module => compiled,
    ]) {
      const prepared = await loadPrebuilt({ manifest: reread(manifest), read, digest: manifest.digest }, 64)
      const instance = await openComponentInstance(prepared, {
        imports: hostInterfaces({}),
        limits: parseLimits(),
        monotonic,
      })
      expect(await instance.call('swap', [[7, 'x']])).toMatchObject({ status: 'completed', value: ['x', 7] })
      expect(await instance.call('check', [false])).toMatchObject({ value: { tag: 'err' } })
    }
  })

  it('is refused when anything of it differs (invariant 1)', async () => {
    const { manifest, files } = await built()
    const read = (file: string): Uint8Array => files.get(file) as Uint8Array
    const flipped = (file: string): Uint8Array => {
      const bytes = new Uint8Array(read(file))
      bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1
      return bytes
    }
    const more = { ...reread(manifest), maxMemoryPages: 65_536 }
    await expect(loadPrebuilt({ manifest, read: flipped }, 64)).rejects.toMatchObject({ code: 'corrupted' })
    await expect(loadPrebuilt({ manifest, read }, 63)).rejects.toMatchObject({ code: 'invalid_limit' })
    await expect(loadPrebuilt({ manifest: more, read }, 64)).rejects.toMatchObject({ code: 'corrupted' })
    await expect(loadPrebuilt({ manifest, read, digest: 'sha256:0' }, 64)).rejects.toMatchObject({
      code: 'corrupted',
    })
  })
  it('takes of a bundle only the modules that were built with its manifest (invariant 2)', async () => {
    const { manifest, files } = await built()
    const other = await buildComponent(
      await readSample('tool-c'),
      { profile: 'portable', maxMemoryPages: 64 },
      monotonic,
    )
    const wrong = new WebAssembly.Module(other.files.get('core-0.wasm') as Uint8Array<ArrayBuffer>)
    // A module that nobody stamped, and so nobody metered.
    const bare = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0))
    const right = files.get('core-0.wasm') as Uint8Array<ArrayBuffer>
    const twice = new WebAssembly.Module(
      new Uint8Array([...right, ...right.subarray(right.length - 87)]) as Uint8Array<ArrayBuffer>,
    )
    expect(WebAssembly.Module.customSections(twice, 'caisson.build')).toHaveLength(2)
    for (const module of [wrong, bare, twice])
      await expect(loadPrebuilt({ manifest, read: () => module }, 64)).rejects.toMatchObject({
        code: 'corrupted',
      })
    const nothing = { manifest, read: () => 'text' as unknown as Uint8Array }
    await expect(loadPrebuilt(nothing, 64)).rejects.toMatchObject({ code: 'invalid_argument' })
  })

  it('is refused where its digest is right, and what it is of is not what is read', async () => {
    const { manifest, files } = await built()
    const read = (file: string): Uint8Array => files.get(file) as Uint8Array
    const { digest: _, ...body } = reread(manifest)
    const signed = (change: object): PrebuiltManifest => {
      const changed = { ...body, ...change }
      const digest = sha256(new TextEncoder().encode(JSON.stringify(Object.values(changed))))
      return { ...changed, digest } as PrebuiltManifest
    }
    expect(signed({}).digest).toBe(manifest.digest)
    const [core] = body.cores
    const withConstants = (constants: unknown): object => ({
      cores: [{ ...core, manifest: { ...core?.manifest, constants } }],
    })
    const constant = (...steps: unknown[]): object => ({ name: 'constant.0', type: 'i32', steps })
    for (const change of [
      { cores: null },
      { cores: [null] },
      { cores: [{ ...body.cores[0], manifest: null }] },
      { cores: [{ ...body.cores[0], manifest: { ...body.cores[0]?.manifest, exports: undefined } }] },
      withConstants(undefined),
      withConstants([null]),
      withConstants([{ name: 'constant.0', type: 'i32' }]),
      ...[
        null,
        { get: null },
        { push: 1.5 },
        { push: 'x' },
        { push: '9'.repeat(100) },
        { op: 'constructor' },
      ].map((step) => withConstants([constant(step)])),
      { root: null },
      { root: { definitions: [null] } },
      { root: { definitions: [{ kind: 'type', type: null }] } },
      { maxMemoryPages: '1' },
      { component: 5 },
    ])
      await expect(
        loadPrebuilt({ manifest: signed(change), read }, 64),
        JSON.stringify(change).slice(0, 80),
      ).rejects.toMatchObject({ code: 'corrupted' })
  })
})
