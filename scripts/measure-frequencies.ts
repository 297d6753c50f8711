/**
 * Measures how often each block of the engine runs: `npx tsx scripts/measure-frequencies.ts`.
 *
 * Runs the throughput programs of the bench, and programs of everyday code (`engine/training`), on an engine that
 * counts its blocks, each with equal weight, and writes `scripts/engine/frequencies.bin`. The file is data of the
 * build: run this again after the engine or the flow graph of the metering pass changed, then
 * `npm run build:engine -- --accept`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import { PROGRAMS } from '../bench/subjects/programs.ts'
import { parseEngine } from '../src/isolate/engine.ts'
import { EngineInstance } from '../src/isolate/engine-instance.ts'
import { installGuestRuntime } from '../src/isolate/guest-runtime.ts'
import { countBlocks, readBlockCounts } from '../src/wasm/profile.ts'
import { editEngine } from './engine/edit-engine.ts'
import { encodeFrequencies, frequenciesFile } from './engine/frequencies.ts'
import { bundleGuestSources } from './engine/guest-sources.ts'
import { withIdleCounters } from './engine/idle-counters.ts'
import { readUpstream } from './engine/read-upstream.ts'

const { wasm, layout } = editEngine(readUpstream())
const counting = countBlocks(withIdleCounters(wasm))
const engine = parseEngine({
  manifest: { format: 1, id: 'counting', layout },
  module: new WebAssembly.Module(counting.wasm as Uint8Array<ArrayBuffer>),
  guest: bundleGuestSources(),
  profile: 'v8',
})

const folder = new URL('engine/training/', import.meta.url)
const training = readdirSync(folder)
  .sort()
  .map((name) => ({
    name,
    source: `(() => {\n${readFileSync(new URL(name, folder), 'utf8')}\n})()`,
  }))

const sums = new Map<number, Float64Array>()
for (const { name, source: program } of [...PROGRAMS, ...training]) {
  const started = performance.now()
  const instance = new EngineInstance(engine, 4_096, () => 0)
  instance.serve({ call: () => 0, readClock: () => 0, promiseRejection: () => {} }, 4_096 * 65_536)
  const { context } = installGuestRuntime(instance)
  const code = instance.allocateText(`${program}\n;run()`)
  const file = instance.allocateText(name)
  instance.exports.QTS_Eval(context, code.pointer, code.bytes, file.pointer, 0, 0)
  const counts = readBlockCounts(counting.layout, instanceExports(instance))
  let total = 0
  for (const blocks of counts.values()) for (let i = 0; i < blocks.length; i += 1) total += blocks[i] ?? 0
  for (const [fn, blocks] of counts) {
    const sum = sums.get(fn) ?? new Float64Array(blocks.length)
    for (let i = 0; i < blocks.length; i += 1) sum[i] = (sum[i] ?? 0) + ((blocks[i] ?? 0) / total) * 1e9
    sums.set(fn, sum)
  }
  console.log(
    `${name.padEnd(20)} ${total.toExponential(2)} blocks, ${Math.round(performance.now() - started)} ms`,
  )
}
writeFileSync(frequenciesFile, deflateRawSync(encodeFrequencies(sums), { level: 9 }))

function instanceExports(instance: EngineInstance): Readonly<Record<string, unknown>> {
  return instance.exports as unknown as Readonly<Record<string, unknown>>
}
