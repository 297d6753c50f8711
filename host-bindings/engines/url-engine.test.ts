import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import { urlEngine } from './url-engine.ts'

const engine = readFileSync(new URL('../../engines/current/v8.wasm', import.meta.url))
const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`
const open = (url: string) => urlEngine({ url, manifest: ENGINE_MANIFEST, guest: {}, profile: 'v8' })

describe('an engine at a URL', () => {
  it('is loaded once', async () => {
    const source = open(dataUrl('application/wasm', engine))
    const [first, second] = await Promise.all([
      source.load(ENGINE_MANIFEST.id),
      source.load(ENGINE_MANIFEST.id),
    ])
    expect(first.module).toBeInstanceOf(WebAssembly.Module)
    expect(second).toBe(first)
  })

  it.each([
    [
      'a page',
      dataUrl('text/html', Buffer.from('<!doctype html>')),
      'there is text/html, and no WebAssembly',
    ],
    [
      'nothing',
      dataUrl('application/wasm', Buffer.alloc(0)),
      'there is application/wasm, and no WebAssembly',
    ],
    ['an address that cannot be fetched', 'nowhere:5', 'it cannot be fetched'],
  ])('is not at hand where there is %s', async (_what, url, problem) => {
    await expect(open(url).load(ENGINE_MANIFEST.id)).rejects.toMatchObject({
      code: 'engine_unavailable',
      message: expect.stringContaining(problem),
    })
  })

  it('of another version is refused', async () => {
    const other = Buffer.from(engine)
    other[1_000] = (other[1_000] ?? 0) ^ 1
    const loading = open(dataUrl('application/wasm', other)).load(ENGINE_MANIFEST.id)
    await expect(loading).rejects.toMatchObject({ code: 'engine_mismatch' })
  })

  it('of another id is not there', async () => {
    await expect(open('nowhere:5').load('quickjs-ffffffffffffffff')).rejects.toMatchObject({
      code: 'engine_unavailable',
      message: expect.stringContaining('quickjs-ffffffffffffffff'),
    })
  })
})
