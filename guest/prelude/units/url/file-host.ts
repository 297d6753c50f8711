import type { ParseHost } from './parse.ts'
import type { UrlRecord } from './record.ts'

/** Sets the host of a file. @returns whether it is one */
export function setFileHost(url: UrlRecord, text: string, parseHost: ParseHost): boolean {
  const host = parseHost(text, false)
  if (host === undefined) return false
  url.host = host === 'localhost' ? '' : host
  return true
}
