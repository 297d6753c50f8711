/** What `caisson types` does. */
import { readFileSync } from 'node:fs'
import { CaissonError } from '../../base/errors.ts'
import type { Capability } from '../../capability/capability.ts'
import { declareCapabilities } from '../../capability/declare-capabilities.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'
import { grantRights } from '../run/grant-rights.ts'

/** @returns the exit code. @throws CliError */
export async function printTypes(given: GivenFlags, io: CliIo): Promise<number> {
  if (given.has('dts') === given.has('wit')) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: 'Which types? --dts are for programs, --wit is for components: name one of them.',
      hint: 'caisson types --dts > guest.d.ts',
    })
  }
  const rights = await grantRights(given, [], io.cwd)
  try {
    const granted = rights.capabilities.filter(({ name }) => rights.grants.includes(name))
    if (given.has('wit')) {
      const wit = await packageOf(granted)
      io.stdout.write(given.has('json') ? `${jsonText({ status: 'completed', wit })}\n` : wit)
      return EXIT.done
    }
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

async function packageOf(granted: readonly Capability[]): Promise<string> {
  if (granted.length === 0) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: 'Nothing is granted, so there is nothing to import.',
      hint: 'caisson types --wit --tools ./tools.js > capabilities.wit',
    })
  }
  try {
    return (await import('../../component/wit-package.ts')).witPackage(granted)
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    throw new CliError({ exit: EXIT.refusedInput, code: error.code, message: error.message, cause: error })
  }
}

/** The declarations that come with the package: at the same place from its sources and from `dist`. */
function standardLibrary(): string {
  return readFileSync(new URL('../../../guest/globals.d.ts', import.meta.url), 'utf8')
}
