/** The upstream module, only if it is exactly the one that names and layout were derived from. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { UPSTREAM } from './upstream.ts'

export const sha256Hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** @throws Error that says what to do, when another build is installed */
export function readUpstream(): Uint8Array {
  const require = createRequire(import.meta.url)
  const folder = dirname(require.resolve(`${UPSTREAM.package}/package.json`))
  const bytes = readFileSync(join(folder, UPSTREAM.file))
  const found = sha256Hex(bytes)
  if (found !== UPSTREAM.sha256) {
    throw new Error(
      `${UPSTREAM.package}/${UPSTREAM.file} has sha256 ${found}, and the build is for ${UPSTREAM.sha256} ` +
        `(version ${UPSTREAM.version}). Install that version, or derive names and layout again (CONTRIBUTING.md).`,
    )
  }
  return bytes
}
