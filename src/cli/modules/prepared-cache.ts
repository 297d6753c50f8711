/**
 * Where the command line keeps modules that it prepared, so that the next start of the same one does not wait:
 * `caisson` in XDG_CACHE_HOME, else in `~/.cache`. Entries are believed only with the key that stands beside them, which
 * nobody else can read.
 */
import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { openDirectoryPreparedStore } from '../../../host-bindings/prepared/node/directory-prepared-store.node.ts'
import type { PreparedCacheGrant } from '../../runtime/wasi/module-options.ts'

const KEY_BYTES = 32

/** @returns undefined where there is no place for it: then everything is prepared anew */
export async function openPreparedCache(): Promise<PreparedCacheGrant | undefined> {
  const { XDG_CACHE_HOME: given = '' } = process.env
  const folder = join(isAbsolute(given) ? given : join(homedir(), '.cache'), 'caisson')
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const key = await keyIn(folder)
    return { key, store: await openDirectoryPreparedStore({ path: join(folder, 'modules') }) }
  } catch {
    return undefined
  }
}

async function keyIn(folder: string): Promise<Uint8Array> {
  const path = join(folder, 'modules.key')
  const known = await readFile(path).catch(() => undefined)
  if (known?.length === KEY_BYTES) return known
  // Whole or not there, and the same for all who come at once.
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(randomBytes(KEY_BYTES))
  } finally {
    await handle.close()
  }
  try {
    if (known !== undefined) await rm(path, { force: true })
    await link(draft, path).catch(() => {})
    return await readFile(path)
  } finally {
    await rm(draft, { force: true })
  }
}
