/** The worker of docs/embedding.md in real workerd, under the settings of the page's wrangler.jsonc. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT, theSnippet } from './documented-pages.ts'

let miniflare: Miniflare
const settings = JSON.parse(theSnippet('jsonc', 'wrangler').code.replace(/^\/\/.*$/m, '')) as {
  compatibility_date: string
  main: string
}

beforeAll(async () => {
  const bundle = await build({
    stdin: {
      contents: theSnippet('ts', 'edge').code,
      loader: 'ts',
      resolveDir: ROOT,
      sourcefile: settings.main,
    },
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    alias: { 'caisson/edge': join(ROOT, 'src/entry/edge.ts') },
    plugins: [
      {
        // What wrangler does by itself: `.wasm` stays an import, of a module that lies beside the bundle.
        name: 'compiled-wasm',
        setup({ onResolve }) {
          onResolve({ filter: /\.wasm$/ }, () => ({ path: './engine.wasm', external: true }))
        },
      },
    ],
    logLevel: 'silent',
  })
  miniflare = new Miniflare({
    compatibilityDate: settings.compatibility_date,
    modules: [
      { type: 'ESModule', path: 'worker.mjs', contents: bundle.outputFiles[0]?.text ?? '' },
      {
        type: 'CompiledWasm',
        path: 'engine.wasm',
        contents: readFileSync(join(ROOT, 'engines/current/v8.wasm')),
      },
    ],
  })
  await miniflare.ready
})
afterAll(() => miniflare?.dispose())

async function send(program: string): Promise<unknown> {
  const response = await miniflare.dispatchFetch('http://localhost/', { method: 'POST', body: program })
  return response.json()
}

describe('the edge worker of the documentation', () => {
  it('runs a guest with the capability that it grants', async () => {
    expect(await send('return await request.country()')).toMatchObject({ status: 'completed', value: 'XX' })
  })

  it('ends one that never stops', async () => {
    expect(await send('while (1);')).toMatchObject({ status: 'exhausted', limit: 'fuel' })
  })

  it('imports the engine by a name that the package exports', () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: object }
    expect(theSnippet('ts', 'edge').code).toContain("from 'caisson/engine/v8.wasm'")
    expect(exports).toHaveProperty(['./engine/*.wasm', 'default'], './dist/engines/current/*.wasm')
  })
})
