/** A peer's package, installed on demand beside the benches and typed here by what a subject uses of it. */
import { readFileSync } from 'node:fs'
import { importPeer } from '../thirdparty/import-peer.ts'

/** The version that is installed. @throws Error with the command that installs it */
export function peerVersion(name: string): string {
  const manifest = new URL(`../thirdparty/node_modules/${name}/package.json`, import.meta.url)
  try {
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
  } catch {
    throw new Error(`${name} is not installed (npm run bench:install)`)
  }
}

/**
 * Imports a peer. `Shape` describes what the caller uses; a peer that changed shows as a failing trial.
 * @throws Error when it is not installed, or does not load on this machine
 */
export async function importPackage<Shape>(name: string): Promise<Shape> {
  peerVersion(name)
  return (await importPeer(name)) as Shape
}

/** The bytes of a file inside an installed peer. */
export function peerFile(path: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(new URL(`../thirdparty/node_modules/${path}`, import.meta.url)))
}
