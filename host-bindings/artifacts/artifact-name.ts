/**
 * A file name out of what a program calls its output: harmless in every file system, in a terminal and in a link,
 * and still telling for a person.
 */

/** In code points, each up to 4 bytes of UTF-8: stays below the 255 bytes that file systems take. */
const MAX_LENGTH = 60
/** Names that Windows takes for devices, whatever their extension. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/**
 * `name` with everything but letters, digits, `.`, `_` and `-` replaced by `-`. Never empty, never hidden (no
 * leading dot), at most 60 characters with its extension kept.
 */
export function artifactName(name: string): string {
  const plain = name
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[.-]+|[.-]+$/g, '')
  const safe = plain === '' || DEVICE.test(plain) ? `artifact-${plain}`.replace(/-$/, '') : plain
  const characters = [...safe]
  if (characters.length <= MAX_LENGTH) return safe
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(safe)?.[0] ?? ''
  const stem = characters.slice(0, MAX_LENGTH - extension.length).join('')
  return stem.replace(/[.-]+$/, '') + extension
}
