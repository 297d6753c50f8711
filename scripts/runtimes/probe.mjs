/** Runs every program of `programs.json` in this runtime and prints what must be equal everywhere. */
import { readFileSync } from 'node:fs'
import { openRuntime } from '../../dist/src/entry/node.js'

const programs = JSON.parse(readFileSync(new URL('programs.json', import.meta.url), 'utf8'))
const epoch = Date.parse('2026-01-01T00:00:00Z')
const runtime = await openRuntime({ clock: { now: () => epoch, monotonic: () => performance.now() } })
const results = {}
for (const [name, source] of Object.entries(programs)) {
  const outcome = await runtime.run(source, {
    seed: 1,
    stateDigest: true,
    limits: { fuel: 100_000_000, memoryBytes: 16 * 1024 * 1024, wallMs: 600_000 },
  })
  const value = JSON.stringify(outcome.value, (_, v) => (typeof v === 'bigint' ? `${v}n` : v))
  results[name] = [outcome.status, outcome.limit, value, outcome.usage.fuel, outcome.stateDigest]
}
console.log(JSON.stringify({ engine: runtime.engine, results }))
