/** Page tools in plain JavaScript, for platforms that have nothing faster. */
import { sha256Bytes } from '../base/digest.ts'
import type { PageTools } from '../ports/page-tools.ts'

export const neutralPageTools: PageTools = { samePage, sha256: sha256Bytes }

/** Four bytes at a time. */
function samePage(memory: Uint8Array, start: number, page: Uint8Array): boolean {
  const offset = memory.byteOffset + start
  const words = page.length / 4
  if (offset % 4 !== 0 || page.byteOffset % 4 !== 0) return sameBytes(memory, start, page)
  const a = new Uint32Array(memory.buffer, offset, words)
  const b = new Uint32Array(page.buffer, page.byteOffset, words)
  for (let i = 0; i < words; i += 1) if (a[i] !== b[i]) return false
  return true
}

function sameBytes(memory: Uint8Array, start: number, page: Uint8Array): boolean {
  for (let i = 0; i < page.length; i += 1) if (memory[start + i] !== page[i]) return false
  return true
}
