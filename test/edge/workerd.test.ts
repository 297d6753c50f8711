/** The edge entry in real workerd, which refuses to compile WebAssembly at run time. */
import { readFileSync } from 'node:fs'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRuntime, type Plan } from '../../src/entry/node.ts'

const here = new URL('.', import.meta.url)
let miniflare: Miniflare

beforeAll(async () => {
  const bundle = await build({
    entryPoints: [new URL('worker.ts', here).pathname],
    bundle: true,
    format: 'esm',
    write: false,
    external: ['./engine.wasm'],
    conditions: ['workerd'],
  })
  miniflare = new Miniflare({
    compatibilityDate: '2026-01-01',
    modules: [
      { type: 'ESModule', path: 'worker.mjs', contents: bundle.outputFiles[0]?.text ?? '' },
      {
        type: 'CompiledWasm',
        path: 'engine.wasm',
        contents: readFileSync(new URL('../../engines/current/v8.wasm', here)),
      },
    ],
  })
  await miniflare.ready
})
afterAll(() => miniflare.dispose())

async function runInWorkerd(job: Record<string, unknown>): Promise<Record<string, unknown>> {
  const response = await miniflare.dispatchFetch('http://localhost/', {
    method: 'POST',
    body: JSON.stringify(job),
  })
  return (await response.json()) as Record<string, unknown>
}

describe('a guest in workerd', () => {
  it('calls a granted capability', async () => {
    const outcome = await runInWorkerd({
      source: 'const { price } = await prices.lookup({ sku: input }); return price * 2',
      input: 'A-100',
      grants: ['prices.lookup'],
    })
    expect(outcome).toMatchObject({ status: 'completed', value: 15 })
  })

  it('ends for fuel', async () => {
    expect(await runInWorkerd({ source: 'while (1);', limits: { fuel: 10_000_000 } })).toMatchObject({
      status: 'exhausted',
      limit: 'fuel',
    })
  })

  it('may be TypeScript', async () => {
    const outcome = await runInWorkerd({
      source: 'enum A { X = 6 }\nconst f = (x: number): number => x * A.X\nf(7)',
    })
    expect(outcome).toMatchObject({ status: 'completed', value: 42 })
  })

  it('may be a node of a plan', async () => {
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
    const ends = await Promise.all([
      runInWorkerd({ plan, input: 'A-100' }),
      runInWorkerd({ plan, input: 'A' }),
    ])
    expect(ends).toMatchObject([
      { status: 'completed', output: 15 },
      { status: 'completed', output: 3 },
    ])
  })

  it('uses the same fuel and ends in the same state as in Node', async () => {
    const source = 'let s = 0; for (let i = 0; i < 1e4; i++) s += Math.sqrt(i); return [s, Math.random()]'
    const there = await runInWorkerd({ source })
    const runtime = await openRuntime()
    const here = await runtime.run(source, { seed: 1, stateDigest: true })
    await runtime.close()
    expect(there).toMatchObject({ value: (here as { value?: unknown }).value, stateDigest: here.stateDigest })
    expect((there.usage as { fuel: number }).fuel).toBe(here.usage.fuel)
  })
})
