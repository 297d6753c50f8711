/** Command lines about a run of a plan, as they are proposed to whoever reads: quoted for a shell. */
import type { GivenFlags } from '../command.ts'
import { shellQuote } from '../render/shell-quote.ts'

/** Flags of a command that the next one needs too. */
const AGAIN = ['tools', 'allow-net', 'allow-read', 'allow-write', 'key-file'] as const

/**
 * `caisson plan start r --store runs --tools ./tools.js`
 * @param command without `caisson`; @param more flags and values
 * @param tools whether it needs what there is to call
 */
export function planCommand(
  command: string,
  run: string,
  storeName: string,
  given: GivenFlags,
  { more = [], tools = false }: { readonly more?: readonly string[]; readonly tools?: boolean } = {},
): string {
  const again = AGAIN.filter((name) => tools || name === 'key-file').flatMap((name) =>
    given.values(name).flatMap((value) => [`--${name}`, value]),
  )
  const words = [run, '--store', storeName, ...more, ...again].map(shellQuote)
  return ['caisson', command, ...words].join(' ')
}
