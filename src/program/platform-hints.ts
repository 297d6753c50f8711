/**
 * What programs for other platforms reach for and a guest does not have, and what to do instead.
 *
 * One table for modules (`import 'fs'`); globals are looked up here too.
 */

/** Built-in modules of Node with what stands in for them; an empty text where nothing does. */
const NODE_MODULES: ReadonlyMap<string, string> = new Map([
  ['fs', 'grant files.readText and call files.readText({ path })'],
  ['fs/promises', 'grant files.readText and call files.readText({ path })'],
  ['path', 'join paths as text, with / between the parts'],
  ['http', 'grant net.fetch and call net.fetch({ url })'],
  ['https', 'grant net.fetch and call net.fetch({ url })'],
  ['http2', 'grant net.fetch and call net.fetch({ url })'],
  ['net', 'grant net.fetch and call net.fetch({ url })'],
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

const NO_PAGE = 'a guest runs in no page'

/** Globals of Node, of pages and of other runtimes. */
const PLATFORM_GLOBALS: ReadonlyMap<string, string> = new Map([
  ['require', 'use import'],
  ['module', 'use export default'],
  ['exports', 'use export'],
  ['process', 'use the global input for arguments, and console for output'],
  ['Buffer', 'use Uint8Array, TextEncoder and TextDecoder'],
  ['global', 'use globalThis'],
  ['__dirname', 'a guest has no files of its own; grant files.readText and call files.readText({ path })'],
  ['__filename', 'a guest has no files of its own; grant files.readText and call files.readText({ path })'],
  ['Deno', 'grant the capability of the host that does what is needed'],
  ['Bun', 'grant the capability of the host that does what is needed'],
  ['XMLHttpRequest', 'grant net.fetch and call net.fetch({ url })'],
  ['WebSocket', 'grant a capability of the host that talks to the other side'],
  ['EventSource', 'grant a capability of the host that talks to the other side'],
  ['Worker', 'run more guests from the host instead'],
  ['WebAssembly', 'grant a capability of the host that runs the module'],
  ['Intl', 'this engine formats without locales: use toFixed, toISOString and the like'],
  ['localStorage', 'grant kv.get and kv.set, and call them'],
  ['sessionStorage', 'keep it in a variable'],
  ['indexedDB', 'grant kv.get and kv.set, and call them'],
  ['window', NO_PAGE],
  ['document', NO_PAGE],
  ['location', NO_PAGE],
  ['history', NO_PAGE],
  ['alert', `${NO_PAGE}; use console.log`],
  ['confirm', NO_PAGE],
  ['prompt', `${NO_PAGE}; use the global input`],
])

/**
 * @param name of a global that is not defined
 * @param argument what it was called with where that is known, as `require('fs')`
 * @returns one sentence with the next step; undefined for names that are on no platform
 */
export function platformGlobalHint(name: string, argument?: string): string | undefined {
  const module = name === 'require' && argument !== undefined ? platformModuleHint(argument) : undefined
  const instead = PLATFORM_GLOBALS.get(name)
  return module ?? (instead && `\`${name}\` is not available in a guest; ${instead}`)
}
