/** A component out of a core module: its world is written into it, and what it exports is wrapped for that world. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GUEST_FOLDER, SAMPLES_FOLDER, type Sample } from './sample.ts'

/** Name and version of what does it. */
export const COMPONENT_TOOLS: string = `jco-transpile ${readVersion()}`

/** @throws Error where the module lacks what the world exports, or imports what it does not have */
export async function makeComponent(core: Uint8Array, sample: Sample): Promise<Uint8Array> {
  const { componentEmbed, componentNew } = await import('@bytecodealliance/jco-transpile/wasm-tools')
  const embedded = await componentEmbed({
    binary: core,
    witSource: readFileSync(join(GUEST_FOLDER, 'wit', sample.wit ?? ''), 'utf8'),
    world: sample.world ?? '',
    ...(sample.stringEncoding === undefined ? {} : { stringEncoding: sample.stringEncoding }),
  })
  return componentNew(embedded, sample.wasi === true ? [['wasi_snapshot_preview1', readAdapter()]] : [])
}

/** What speaks preview 1 to a module and WASI 0.2 to the host. */
function readAdapter(): Uint8Array {
  return readFileSync(join(SAMPLES_FOLDER, 'adapter/wasi_snapshot_preview1.reactor.wasm'))
}

function readVersion(): string {
  // The package does not export its manifest.
  const url = new URL('../package.json', import.meta.resolve('@bytecodealliance/jco-transpile'))
  return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version
}
