/**
 * What programs for other platforms reach for and a guest does not have, and what to do instead.
 *
 * One table for modules (`import 'fs'`); globals are looked up here too.
 */

/** Built-in modules of Node with what stands in for them; an empty text where nothing does. */
const NODE_MODULES: ReadonlyMap<string, string> = new Map([
  ['fs', 'grant files.read and call files.read(path)'],
  ['fs/promises', 'grant files.read and call files.read(path)'],
  ['path', 'join paths as text, with / between the parts'],
  ['http', 'grant http.fetch and call http.fetch({ url })'],
  ['https', 'grant http.fetch and call http.fetch({ url })'],
  ['http2', 'grant http.fetch and call http.fetch({ url })'],
  ['net', 'grant http.fetch and call http.fetch({ url })'],
  ['child_process', 'grant a capability of the host that does what the command would'],
  ['crypto', 'use the global crypto, or grant a capability of the host'],
  ['process', 'use the global input for arguments'],
  ['os', ''],
  ['buffer', 'use Uint8Array'],
  ['url', 'use the globals URL and URLSearchParams'],
  ['util', ''],
  ['events', 'use EventTarget'],
  ['stream', 'use ReadableStream'],
  ['timers', 'use the global setTimeout'],
  ['timers/promises', 'use the global setTimeout'],
  ['assert', 'throw an Error'],
  ['module', 'use import'],
  ['worker_threads', ''],
  ['readline', 'use the global input'],
  ['zlib', ''],
  ['perf_hooks', 'use the global performance'],
  ['string_decoder', 'use TextDecoder'],
  ['querystring', 'use URLSearchParams'],
  ['async_hooks', ''],
  ['cluster', ''],
  ['dns', ''],
  ['tls', ''],
  ['tty', ''],
  ['v8', ''],
  ['vm', ''],
  ['console', 'use the global console'],
])

/**
 * @param specifier as an import has it
 * @returns one sentence with the next step for a built-in module of Node, of Deno or of Bun; else undefined
 */
export function platformModuleHint(specifier: string): string | undefined {
  const name = /^(?:node:)?(.+)$/.exec(specifier)?.[1] ?? ''
  const instead = NODE_MODULES.get(name)
  if (instead === undefined && !/^(?:node|bun|deno|cloudflare):/.test(specifier)) return undefined
  const shown = specifier.startsWith('node:') ? name : specifier
  return instead === undefined || instead === ''
    ? `\`${shown}\` is not available in a guest: grant a capability of the host for what it is needed for`
    : `\`${shown}\` is not available in a guest; ${instead}`
}
