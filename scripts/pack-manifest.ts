/**
 * The `package.json` that goes into the package: without what only a clone can do. Installers run `prepare` in some
 * cases, and the package holds no sources to build.
 *
 *     tsx scripts/pack-manifest.ts --strip       before packing: keeps the original in .cache
 *     tsx scripts/pack-manifest.ts --restore     after packing: puts it back
 *
 * `npm pack` and `npm publish` call both. Should one die in between, call `--restore` by hand.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Fields for people who work on the package, not for those who use it. */
const OURS_ALONE: readonly string[] = ['scripts', 'devDependencies', 'allowScripts']

/** The manifest as users get it. */
export function packedManifest(manifest: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(manifest).filter(([field]) => !OURS_ALONE.includes(field)))
}

/** Replaces `package.json` in `folder` by the packed one. What was stripped already stays as it is. */
export function stripManifest(folder: string): void {
  const { manifest, original } = pathsIn(folder)
  const text = readFileSync(manifest, 'utf8')
  const parsed = JSON.parse(text) as Record<string, unknown>
  if (parsed.scripts === undefined) return
  mkdirSync(dirname(original), { recursive: true })
  writeFileSync(original, text)
  // A new file in one step: nobody ever reads half a manifest.
  writeFileSync(`${manifest}.packed`, `${JSON.stringify(packedManifest(parsed), undefined, 2)}\n`)
  renameSync(`${manifest}.packed`, manifest)
}

/** Puts the original back, byte for byte; does nothing where none is kept. */
export function restoreManifest(folder: string): void {
  const { manifest, original } = pathsIn(folder)
  if (existsSync(original)) renameSync(original, manifest)
}

function pathsIn(folder: string): { readonly manifest: string; readonly original: string } {
  return { manifest: join(folder, 'package.json'), original: join(folder, '.cache/package.json') }
}

const root = join(import.meta.dirname, '..')
if (process.argv[2] === '--strip') stripManifest(root)
if (process.argv[2] === '--restore') restoreManifest(root)
