/** What `caisson types` does. */
import { readFileSync } from 'node:fs'
import { declareCapabilities } from '../../capability/declare-capabilities.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'
import { grantRights } from '../run/grant-rights.ts'

/** @returns the exit code. @throws CliError */
export async function printTypes(given: GivenFlags, io: CliIo): Promise<number> {
  if (!given.has('dts')) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: 'Which types? There is one form so far: --dts.',
      hint: 'caisson types --dts > guest.d.ts',
    })
  }
  const rights = await grantRights(given, [], io.cwd)
  try {
    const granted = rights.capabilities.filter(({ name }) => rights.grants.includes(name))
    const parts = [
      ...(given.has('capabilities-only') ? [] : [standardLibrary()]),
      ...(granted.length > 0 ? [declareCapabilities(granted)] : []),
    ]
    const dts = parts.join('\n')
    io.stdout.write(given.has('json') ? `${jsonText({ status: 'completed', dts })}\n` : dts)
    return EXIT.done
  } finally {
    await rights.close()
  }
}

/** The declarations that come with the package: at the same place from its sources and from `dist`. */
function standardLibrary(): string {
  return readFileSync(new URL('../../../guest/globals.d.ts', import.meta.url), 'utf8')
}
