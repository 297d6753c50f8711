import type { Host } from './host.ts'

/** The text of UTF-8, as bodies and blobs are read: without its byte order mark, malformed bytes replaced. */
export function decodeUtf8(host: Host, bytes: Uint8Array): string {
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  // The host reads the whole buffer: it gets one that holds no more.
  const own = isMarked || bytes.byteLength !== bytes.buffer.byteLength ? bytes.slice(isMarked ? 3 : 0) : bytes
  return host.decodeText(own, 'utf-8', false) as string
}
