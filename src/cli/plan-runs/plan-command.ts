/** Command lines about a run of a plan, as they are proposed to whoever reads: quoted for a shell. */
import { ruleOf } from '../../graph/plan/authority.ts'
import type { Plan } from '../../graph/plan/plan.ts'
import type { GivenFlags } from '../command.ts'
import { flagsOfGrants } from '../kept/flags-of-grants.ts'
import { shellQuote } from '../render/shell-quote.ts'

/** Flags that say what there is to call. */
export const RIGHT_FLAGS = ['tools', 'allow-net', 'allow-read', 'allow-write'] as const

/**
 * `caisson plan start r --store runs --tools ./tools.js`
 * @param command without `caisson`; @param words the run, and what stands beside it; @param more flags and values
 * @param tools the plan, where the command needs what that calls: placeholders stand for what was not given
 */
export function planCommand(
  command: string,
  words: readonly string[],
  storeName: string,
  given: GivenFlags,
  { more = [], tools }: { readonly more?: readonly string[]; readonly tools?: Plan | undefined } = {},
): string {
  const again = (names: readonly string[]): readonly string[] =>
    names.flatMap((name) => given.values(name).flatMap((value) => [`--${name}`, value]))
  const rights = tools === undefined ? [] : again(RIGHT_FLAGS)
  const wanted = tools === undefined || rights.length > 0 ? rights : placeholders(tools)
  const all = [...words, '--store', storeName, ...more, ...wanted, ...again(['key-file', 'sign-key'])]
  return ['caisson', command, ...all.map(shellQuote)].join(' ')
}

/** What is granted is what the plan says: `--grant` is no flag of these commands. */
function placeholders({ grants = [] }: Plan): readonly string[] {
  const flags = flagsOfGrants(grants.map((grant) => ruleOf(grant).capability))
  return flags.filter((word, i) => word !== '--grant' && flags[i - 1] !== '--grant')
}
