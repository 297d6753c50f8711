/** What `caisson receipts` prints. */
import { toTaggedJson } from '../../values/tagged-json.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { TENANT } from '../kept/run-place.ts'
import { jsonText } from '../render/json-text.ts'
import { inPlanSession } from './plan-session.ts'

/** @returns the exit code. @throws CliError */
export async function printReceipts(given: GivenFlags, io: CliIo): Promise<number> {
  const [run = ''] = given.positionals
  return inPlanSession(given, io, { command: 'receipts', run, tools: false }, async ({ runtime }) => {
    for (const receipt of await runtime.receipts(run, { domain: TENANT }))
      io.stdout.write(`${jsonText(toTaggedJson(receipt))}\n`)
    return EXIT.done
  })
}
