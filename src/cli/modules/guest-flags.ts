/** Which flags a guest that is WebAssembly, or a script, has no use for: why, and what to do instead. */
import { FETCH } from '../../component/http-calls.ts'
import { suspendingImports } from '../../component/module/module-code.ts'
import { CliError } from '../cli-error.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { guestRefusal } from './guest-file.ts'
import type { GuestKind } from './tell-guest.ts'

export type Sort = GuestKind | 'script'

interface Lack {
  /** The end of the sentence, where the flag does not say it. */
  readonly why?: string
  readonly instead?: string
}

const KEPT: Lack = {
  why: 'their interpreters are too large to be made suspendable, so that there is no place in the middle from which one could go on',
  instead:
    'Run it again: with the same --seed, --now and input it does the same. Or make it a node of a plan (kind module), whose runs are kept.',
}

const NO_TOOLS: Lack = {
  why: 'their interpreters import nothing but WASI, by which no function of yours can be called',
  instead:
    'Call it from a program in JavaScript, a module or a component. A script gets what came of it by --stdin or --allow-read; a plan hands it on from node to node.',
}

/** Flags that a sort does not have. */
const LACKS: Readonly<Record<Sort, Readonly<Record<string, Lack>>>> = {
  component: { 'at-end': {} },
  module: { 'at-end': {}, input: {}, call: {} },
  script: {
    'at-end': {},
    input: {},
    call: {},
    'allow-net': {
      why: 'their interpreters are built for WASI preview 1, which has no HTTP',
      instead:
        'Fetch it in a program or a component, and give the script what came by --stdin or --allow-read.',
    },
    tools: NO_TOOLS,
    grant: NO_TOOLS,
    store: KEPT,
    run: KEPT,
    checkpoint: KEPT,
    'stop-at-call': KEPT,
  },
}

const WORDS: Readonly<Record<Sort, string>> = {
  component: 'components',
  module: 'modules',
  script: 'scripts in other languages than JavaScript',
}

/** @throws CliError usage */
export function checkGuestFlags(given: GivenFlags, sort: Sort): void {
  const wrong = Object.keys(LACKS[sort]).find((flag) => given.has(flag))
  if (wrong !== undefined) throw lacks(wrong, sort)
}

/** @param flag that this sort does not have */
export function lacks(flag: string, sort: Sort): CliError {
  const { why, instead }: Lack = LACKS[sort][flag] ?? {}
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--${flag} means nothing for ${WORDS[sort]}${why === undefined ? '' : `: ${why}`}.`,
    hint: instead ?? 'caisson run --help',
  })
}

/**
 * A module reaches the network by the capability alone: where it does not import that, it would never use what is granted.
 * @throws CliError usage, or refused input for what is no module
 */
export function checkModuleNetwork(given: GivenFlags, bytes: Uint8Array): void {
  if (!given.has('allow-net') || importsFetch(bytes)) return
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--allow-net means nothing for this module: WASI preview 1 has no HTTP, and it does not import the capability ${FETCH}.`,
    hint: `Build it as a component, which has HTTP (wasi:http), or let it import ${FETCH.replace('.', ' ')}.`,
  })
}

function importsFetch(bytes: Uint8Array): boolean {
  try {
    return suspendingImports(bytes).some(({ module, name }) => `${module}.${name}` === FETCH)
  } catch (error) {
    throw guestRefusal(error)
  }
}
