/** Whole files of a store: read at once, and written so that they are durable before anybody can see them. */
import { constants } from 'node:fs'
import { damaged, ifThere } from './store-error.ts'
import type { StoreFile, StoreFolder } from './store-folder.ts'

/** Only the user who runs the host may read what guests had in memory. */
const MODE = 0o600

/** Begins the names of files that are not finished. */
export const TEMPORARY = 'tmp-'

/** Opens a plain file to read. Rejects with ENOENT where there is none. */
export async function openToRead(folder: StoreFolder, name: string): Promise<StoreFile> {
  return checkPlain(name, await folder.openFile(name, constants.O_RDONLY))
}

/** Opens a plain file to read and write. Rejects with ENOENT where there is none. */
export async function openToWrite(folder: StoreFolder, name: string): Promise<StoreFile> {
  return checkPlain(name, await folder.openFile(name, constants.O_RDWR))
}

/** Makes a file that did not exist, open to read and write. */
export function createFile(folder: StoreFolder, name: string): Promise<StoreFile> {
  return folder.openFile(name, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, MODE)
}

/** Overwrites the start of a file, and makes it where it is missing. Neither durable nor atomic. */
export async function scribble(folder: StoreFolder, name: string, bytes: Uint8Array): Promise<void> {
  const file = await checkPlain(name, await folder.openFile(name, constants.O_RDWR | constants.O_CREAT, MODE))
  try {
    await writeAll(file, bytes, 0)
  } finally {
    await file.close()
  }
}

/** All bytes of a file; undefined where there is none. @throws CaissonError `corrupted` above `maxBytes` */
export async function readWhole(
  folder: StoreFolder,
  name: string,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  const file = await ifThere(() => openToRead(folder, name))
  if (file === undefined) return undefined
  try {
    const { size } = await file.stat()
    if (size > maxBytes) throw damaged(`${name} has ${size} bytes`, { file: name })
    return await readAt(file, 0, size)
  } finally {
    await file.close()
  }
}

/** Up to `length` bytes from `position` on: fewer at the end of the file. */
export async function readAt(file: StoreFile, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled === length ? bytes : bytes.slice(0, filled)
}

/** Writes all of `bytes` at `position`. */
export async function writeAll(file: StoreFile, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0
  while (written < bytes.byteLength) {
    const { bytesWritten } = await file.write(bytes, written, bytes.byteLength - written, position + written)
    written += bytesWritten
  }
}

/**
 * Writes `bytes` to a new file under a name of its own, durable but for that name.
 * @returns the name; whoever gives the file its real name removes this one
 */
export async function writeTemporary(folder: StoreFolder, bytes: Uint8Array): Promise<string> {
  const name = `${TEMPORARY}${crypto.randomUUID()}`
  const file = await createFile(folder, name)
  try {
    try {
      await writeAll(file, bytes, 0)
      await file.datasync()
    } finally {
      await file.close()
    }
  } catch (error) {
    await removeQuietly(folder, name)
    throw error
  }
  return name
}

/** Removes a file that nothing depends on. What stays behind goes with the next collection. */
export async function removeQuietly(folder: StoreFolder, name: string): Promise<void> {
  await folder.removeFile(name).catch(() => {})
}

async function checkPlain(name: string, file: StoreFile): Promise<StoreFile> {
  const plain = await file.stat().then(
    (stat) => stat.isFile(),
    () => false,
  )
  if (plain) return file
  await file.close()
  throw damaged(`${name} is no plain file`, { file: name })
}
