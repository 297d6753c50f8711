/**
 * Builds the engine: `npm run build:engine`.
 *
 * Reads the pinned upstream module, edits it, meters it in both profiles, proves on each that the bridge reads
 * its heap as it is (`heap-layout.ts`), bundles what runs in every guest (`guest/prelude`), and writes
 * `engines/current`. The result must be what `src/isolate/engine-manifest.ts` says, byte for byte, on every machine;
 * `--accept` rewrites that file after a change that was meant. `--guest` leaves the wasm as it was built last: for
 * those who work on the prelude.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { BaseImage } from '../src/isolate/base-image.ts'
import type { Engine, EngineManifest } from '../src/isolate/engine.ts'
import { COST_TABLE_DIGEST } from '../src/wasm/cost.ts'
import { meter } from '../src/wasm/meter.ts'
import { editEngine } from './engine/edit-engine.ts'
import { readFrequencies } from './engine/frequencies.ts'
import { bundleGuestSources } from './engine/guest-sources.ts'
import { probeEngine } from './engine/probe-engine.ts'
import { readUpstream, sha256Hex } from './engine/read-upstream.ts'
import { UPSTREAM } from './engine/upstream.ts'

const root = new URL('..', import.meta.url)
const manifestFile = new URL('src/isolate/engine-manifest.ts', root)
const output = new URL('engines/current/', root)
const cache = new URL('.cache/build/', root)

/** The wasm of both profiles, and all of the manifest that follows from it. */
interface WasmBuild {
  readonly wasm: Readonly<Record<Engine['profile'], Uint8Array<ArrayBuffer>>>
  readonly layout: EngineManifest['layout']
  /** Digest of the edited module, before it was metered. */
  readonly edited: string
}

function buildWasm(): WasmBuild {
  const { wasm, layout } = editEngine(readUpstream())
  const frequencies = readFrequencies()
  // The start function only copies the static data into the memory.
  const options = { frequencies, start: 'keep' } as const
  const v8 = meter(wasm, { profile: 'v8', ...options })
  const portable = meter(wasm, { profile: 'portable', ...options })
  for (const key of ['chargeSites', 'checkSites', 'depthSites', 'maxFuelBetweenChecks'] as const) {
    if (v8.report[key] !== portable.report[key]) throw new Error(`The profiles differ in ${key}.`)
  }
  const own = (bytes: Uint8Array) => new Uint8Array(bytes)
  return { wasm: { v8: own(v8.wasm), portable: own(portable.wasm) }, layout, edited: sha256Hex(wasm) }
}

/** As it was built last. */
function readWasm(): WasmBuild {
  const read = (profile: string) => new Uint8Array(readFileSync(new URL(`${profile}.wasm`, output)))
  const { layout } = JSON.parse(readFileSync(new URL('manifest.json', output), 'utf8')) as EngineManifest
  const { edited } = JSON.parse(readFileSync(new URL('edited.json', cache), 'utf8')) as { edited: string }
  return { wasm: { v8: read('v8'), portable: read('portable') }, layout, edited }
}

function build(): { readonly manifest: EngineManifest; readonly files: ReadonlyMap<string, Uint8Array> } {
  const { wasm, layout, edited } = process.argv.includes('--guest') ? readWasm() : buildWasm()
  mkdirSync(cache, { recursive: true })
  writeFileSync(new URL('edited.json', cache), JSON.stringify({ edited }))
  const sources = bundleGuestSources()
  const guest = new TextEncoder().encode(`${JSON.stringify(sources)}\n`)
  const roots = (['v8', 'portable'] as const).map((profile) => {
    const module = new WebAssembly.Module(wasm[profile])
    const engine = { id: 'in the making', layout, module, guest: sources, profile }
    probeEngine(engine)
    return new BaseImage(engine).pages.root()
  })
  const [base] = roots
  if (base === undefined || roots.some((root) => root !== base)) throw new Error('The base images differ.')
  // What a program can observe, and nothing of the profile.
  const identity = sha256Hex(
    new TextEncoder().encode(
      JSON.stringify([
        2,
        edited,
        layout,
        COST_TABLE_DIGEST,
        sha256Hex(wasm.portable),
        sha256Hex(guest),
        base,
      ]),
    ),
  )
  const describe = (bytes: Uint8Array) => ({ sha256: sha256Hex(bytes), bytes: bytes.length })
  const manifest: EngineManifest = {
    format: 1,
    id: `quickjs-${identity.slice(0, 16)}`,
    upstream: { package: UPSTREAM.package, version: UPSTREAM.version, sha256: UPSTREAM.sha256 },
    layout,
    costs: COST_TABLE_DIGEST,
    guest: sha256Hex(guest),
    base,
    profiles: { v8: describe(wasm.v8), portable: describe(wasm.portable) },
  }
  return {
    manifest,
    files: new Map([
      ['v8.wasm', wasm.v8],
      ['portable.wasm', wasm.portable],
      ['guest.json', guest],
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
