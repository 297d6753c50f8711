/**
 * Builds the engine: `npm run build:engine`.
 *
 * Reads the pinned upstream module, edits it, meters it in both profiles, proves on each that the bridge reads
 * its heap as it is (`heap-layout.ts`), and writes `engines/current`. The result must be what
 * `src/isolate/engine-manifest.ts` says, byte for byte, on every machine; `--accept` rewrites that file after a
 * change that was meant.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import type { EngineManifest } from '../src/isolate/engine.ts'
import { COST_TABLE_DIGEST } from '../src/wasm/cost.ts'
import { meter } from '../src/wasm/meter.ts'
import { editEngine } from './engine/edit-engine.ts'
import { readFrequencies } from './engine/frequencies.ts'
import { probeEngine } from './engine/probe-engine.ts'
import { readUpstream, sha256Hex } from './engine/read-upstream.ts'
import { UPSTREAM } from './engine/upstream.ts'

const root = new URL('..', import.meta.url)
const manifestFile = new URL('src/isolate/engine-manifest.ts', root)
const output = new URL('engines/current/', root)

function build(): { readonly manifest: EngineManifest; readonly files: ReadonlyMap<string, Uint8Array> } {
  const { wasm, layout } = editEngine(readUpstream())
  const frequencies = readFrequencies()
  // The start function only copies the static data into the memory.
  const options = { frequencies, start: 'keep' } as const
  const profiles = {
    v8: meter(wasm, { profile: 'v8', ...options }),
    portable: meter(wasm, { profile: 'portable', ...options }),
  }
  const { v8, portable } = profiles
  for (const key of ['chargeSites', 'checkSites', 'depthSites', 'maxFuelBetweenChecks'] as const) {
    if (v8.report[key] !== portable.report[key]) throw new Error(`The profiles differ in ${key}.`)
  }
  // What a program can observe, and nothing of the profile.
  const identity = sha256Hex(
    new TextEncoder().encode(
      JSON.stringify([1, sha256Hex(wasm), layout, COST_TABLE_DIGEST, sha256Hex(portable.wasm)]),
    ),
  )
  const describe = (bytes: Uint8Array) => ({ sha256: sha256Hex(bytes), bytes: bytes.length })
  const manifest: EngineManifest = {
    format: 1,
    id: `quickjs-${identity.slice(0, 16)}`,
    upstream: { package: UPSTREAM.package, version: UPSTREAM.version, sha256: UPSTREAM.sha256 },
    layout,
    costs: COST_TABLE_DIGEST,
    profiles: { v8: describe(v8.wasm), portable: describe(portable.wasm) },
  }
  return {
    manifest,
    files: new Map([
      ['v8.wasm', v8.wasm],
      ['portable.wasm', portable.wasm],
    ]),
  }
}

/** The manifest as a source file in the style of the others. */
function manifestSource(manifest: EngineManifest): string {
  const literal = JSON.stringify(manifest, null, 2)
    .replace(/"(\w+)":/g, '$1:')
    .replaceAll('"', "'")
    .replace(/([^{,])$(?=\n *[}\]])/gm, '$1,')
    .replace(/,$/, '')
  return [
    '/** The engine of this version. Written by `npm run build:engine -- --accept`; do not edit by hand. */',
    "import type { EngineManifest } from './engine.ts'",
    '',
    `export const ENGINE_MANIFEST: EngineManifest = ${literal}`,
    '',
  ].join('\n')
}

const started = performance.now()
const { manifest, files } = build()
for (const profile of ['v8', 'portable'] as const) {
  const module = new WebAssembly.Module(files.get(`${profile}.wasm`) as BufferSource)
  probeEngine({ id: manifest.id, layout: manifest.layout, module, profile })
}
const json = `${JSON.stringify(manifest, null, 2)}\n`
if (process.argv.includes('--accept')) {
  writeFileSync(manifestFile, manifestSource(manifest))
} else {
  const { ENGINE_MANIFEST } = await import('../src/isolate/engine-manifest.ts')
  if (`${JSON.stringify(ENGINE_MANIFEST, null, 2)}\n` !== json) {
    throw new Error(
      'The built engine is not the one in src/isolate/engine-manifest.ts. If the change was meant, run ' +
        '`npm run build:engine -- --accept` and commit the file; if not, the build is not reproducible here.',
    )
  }
}
mkdirSync(output, { recursive: true })
for (const [name, bytes] of files) writeFileSync(new URL(name, output), bytes)
writeFileSync(new URL('manifest.json', output), json)
console.log(`Engine ${manifest.id} in ${Math.round(performance.now() - started)} ms`)
