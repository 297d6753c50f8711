/** Whether a text is a digest, as they are shown: `sha256:` and 64 hexadecimal digits. */
import type { Digest } from '../../base/digest.ts'

const DIGEST = /^sha256:[0-9a-f]{64}$/

export function isDigest(text: string): text is Digest {
  return DIGEST.test(text)
}
