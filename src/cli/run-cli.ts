/** From arguments to an exit code. Throws nothing: every end has a message and a code. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { openRuntime } from '../entry/node.ts'
import { toTaggedJson } from '../values/tagged-json.ts'
import type { CliIo } from './cli-io.ts'

export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const file = argv.find((arg) => !arg.startsWith('--') && arg !== 'run') ?? ''
  const runtime = await openRuntime()
  const outcome = await runtime.run(await readFile(resolve(io.cwd, file), 'utf8'), { stateDigest: true })
  runtime.close()
  const { fuel, memoryBytes, wallMs, calls } = outcome.usage
  const document = {
    status: outcome.status,
    limit: outcome.status === 'exhausted' ? outcome.limit : null,
    value: outcome.status === 'completed' ? toTaggedJson(outcome.value) : null,
    error: outcome.status === 'failed' ? outcome.error : null,
    usage: { fuel, memoryBytes, wallMs, calls },
    logs: outcome.logs,
    pending: [],
    stateDigest: outcome.stateDigest ?? null,
    engine: outcome.engine,
  }
  io.stdout.write(`${JSON.stringify(document)}\n`)
  return { completed: 0, failed: 3, exhausted: 4, suspended: 6 }[outcome.status]
}
