/**
 * Calls a tool component in a process of its own: `whole SAMPLE FILE` from begin to end, `until-killed` until its second
 * call is at work, with a checkpoint in FILE, and `go-on` from there.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { openRuntime } from '../../src/entry/node.ts'

const [mode, sample = '', file = ''] = process.argv.slice(2)
let asked = 0

const runtime = await openRuntime({
  capabilities: [
    {
      name: 'hostCall',
      description: 'Says what it is told.',
      effect: 'read',
      invoke: async (input) => {
        asked += 1
        if (mode === 'until-killed' && asked === 2) {
          // Whole or not at all: the test waits for it.
          writeFileSync(`${file}.part`, await component.checkpoint())
          renameSync(`${file}.part`, file)
          await new Promise((resolve) => setTimeout(resolve, 3_600_000))
        }
        return `said ${(input as { arguments: string }).arguments}`
      },
    },
  ],
})
const options = { grants: ['hostCall'], seed: 7, nowMs: 1_700_000_000_000 }
const bytes = await readSample(sample)
const component = await runtime.openComponent(
  bytes,
  mode === 'go-on' ? { ...options, from: new Uint8Array(readFileSync(file)) } : options,
)
const outcome = mode === 'go-on' ? await component.goOn() : await component.call('run', ['a\nb\nc'])
const value = outcome.status === 'completed' ? outcome.value : outcome
process.stdout.write(
  JSON.stringify({
    status: outcome.status,
    value,
    fuel: outcome.usage.fuel,
    digest: component.stateDigest(),
  }),
)
await runtime.close()
