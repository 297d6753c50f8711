import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import { fileEngine } from './file-engine.node.ts'

const scratch = mkdtempSync(join(tmpdir(), 'caisson-engines-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const EARLIER = 'quickjs-0123456789abcdef'
const built = new URL('../../engines/', import.meta.url)
cpSync(built, scratch, { recursive: true })
cpSync(new URL('current/', built), join(scratch, EARLIER), { recursive: true })
const manifestFile = join(scratch, EARLIER, 'manifest.json')
writeFileSync(manifestFile, readFileSync(manifestFile, 'utf8').replace(ENGINE_MANIFEST.id, EARLIER))

const open = () =>
  fileEngine({ folder: pathToFileURL(`${scratch}/`), manifest: ENGINE_MANIFEST, profile: 'portable' })

async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return CaissonError.is(error) ? error.code : error
}

describe('engines in files', () => {
  it('loads the engine of this version, once', async () => {
    const source = open()
    const [first, second] = await Promise.all([
      source.load(ENGINE_MANIFEST.id),
      source.load(ENGINE_MANIFEST.id),
    ])
    expect(first.module).toBeInstanceOf(WebAssembly.Module)
    expect(second).toBe(first)
  })

  it('loads an earlier engine by its id', async () => {
    const { manifest } = await open().load(EARLIER)
    expect(manifest).toMatchObject({ id: EARLIER, layout: ENGINE_MANIFEST.layout })
  })

  it('has nothing under ids that are not there or are no ids', async () => {
    for (const id of ['quickjs-ffffffffffffffff', '../current', 'current', '', '__proto__']) {
      expect(await codeOf(open().load(id))).toBe('engine_unavailable')
    }
  })

  it('refuses an engine whose bytes were changed', async () => {
    const file = join(scratch, EARLIER, 'portable.wasm')
    const bytes = readFileSync(file)
    bytes[1_000] = (bytes[1_000] ?? 0) ^ 1
    writeFileSync(file, bytes)
    expect(await codeOf(open().load(EARLIER))).toBe('engine_mismatch')
  })
})
