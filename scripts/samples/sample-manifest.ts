/** What is in `guest/samples/built`: digests of the builds that are committed, and what made them. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SAMPLES_FOLDER } from './sample.ts'

export interface BuiltSample {
  readonly sha256: string
  readonly bytes: number
  readonly toolchain: string
}

export type SampleManifest = Readonly<Record<string, BuiltSample>>

export const BUILT_FOLDER: string = join(SAMPLES_FOLDER, 'built')
const MANIFEST = join(BUILT_FOLDER, 'manifest.json')

export function readManifest(): SampleManifest {
  return existsSync(MANIFEST) ? (JSON.parse(readFileSync(MANIFEST, 'utf8')) as SampleManifest) : {}
}

/** Sorted by name. */
export function writeManifest(manifest: SampleManifest): void {
  const sorted = Object.entries(manifest).sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(MANIFEST, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}

export function describeBuild(bytes: Uint8Array, toolchain: string): BuiltSample {
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length, toolchain }
}
