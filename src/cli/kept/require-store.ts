/** `--store` of commands that are about a store. */
import { CliError } from '../cli-error.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { placeOf, type StorePlace } from './store-place.ts'

/** @throws CliError usage without `--store` */
export function requireStore(given: GivenFlags, command: string, cwd: string): StorePlace {
  const store = given.value('store')
  if (store !== undefined) return placeOf(store, cwd)
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `caisson ${command} needs --store DIR: the folder that runs are kept in.`,
    hint: `caisson ${command} --help`,
  })
}
