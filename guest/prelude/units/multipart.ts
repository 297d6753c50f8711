/** Forms as bodies: urlencoded, and `multipart/form-data` (RFC 7578, as HTML writes it and Fetch reads it). */
import type { Unit } from '../host.ts'
import { mediaTypeText, parseMediaType } from '../media-type.ts'
import { decodeUtf8 } from '../utf8.ts'
import type { BlobExports } from './blob.ts'
import type { FormEntry } from './form-data.ts'
import type { SearchParamsExports } from './url-search-params.ts'

/** What bodies need of it. */
export interface MultipartExports {
  readonly writeMultipart: (entries: readonly FormEntry[]) => {
    readonly bytes: Uint8Array
    readonly type: string
  }
  /** What a form says. @param type its media type @throws TypeError for a body that is no form */
  readonly readForm: (bytes: Uint8Array, type: string) => readonly FormEntry[]
  /** A media type as it is written; empty for what is none. */
  readonly normalType: (type: string) => string
}

const DASH = 0x2d
const CR = 0x0d
const LF = 0x0a

const unit: Unit<MultipartExports & Record<string, unknown>> = ({ host, use }) => {
  const blobs = (): BlobExports => use('blob') as unknown as BlobExports

  function writeMultipart(entries: readonly FormEntry[]): { bytes: Uint8Array; type: string } {
    const boundary = `----CaissonFormBoundary${Array.from({ length: 16 }, () => Math.floor(host.random() * 36).toString(36)).join('')}`
    const parts: Uint8Array[] = []
    const write = (text: string): unknown => parts.push(host.encodeText(text))
    for (const [name, value] of entries) {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(withBreaks(name))}"`
      if (typeof value === 'string') {
        write(`${head}\r\n\r\n${withBreaks(value)}\r\n`)
        continue
      }
      const { bytesOfBlob, nameOfFile, typeOfBlob } = blobs()
      const type = typeOfBlob(value) || 'application/octet-stream'
      write(`${head}; filename="${quoted(nameOfFile(value))}"\r\nContent-Type: ${type}\r\n\r\n`)
      parts.push(bytesOfBlob(value) as Uint8Array)
      write('\r\n')
    }
    write(`--${boundary}--\r\n`)
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
    let at = 0
    for (const part of parts) {
      bytes.set(part, at)
      at += part.length
    }
    return { bytes, type: `multipart/form-data; boundary=${boundary}` }
  }

  /** Undefined for bytes that are none. */
  function readMultipart(bytes: Uint8Array, boundary: string): FormEntry[] | undefined {
    const mark = host.encodeText(`--${boundary}`)
    const entries: FormEntry[] = []
    let at = startsWith(bytes, [CR, LF], 0) ? 2 : 0
    while (startsWith(bytes, mark, at)) {
      at += mark.length
      if (startsWith(bytes, [DASH, DASH], at)) return entries
      while (bytes[at] === 0x20 || bytes[at] === 9) at += 1
      if (!startsWith(bytes, [CR, LF], at)) return undefined
      const headEnd = find(bytes, [CR, LF, CR, LF], at)
      const end = headEnd < 0 ? -1 : find(bytes, [CR, LF, ...mark], headEnd + 2)
      const part = end < 0 ? undefined : disposition(decodeUtf8(host, bytes.subarray(at, headEnd)))
      if (part === undefined) return undefined
      const content = bytes.slice(Math.min(headEnd + 4, end), end)
      const { name, fileName, type } = part
      entries.push([
        name,
        fileName === undefined ? decodeUtf8(host, content) : blobs().fileOf(content, type, fileName),
      ])
      at = end + 2
    }
    return undefined
  }

  function readForm(bytes: Uint8Array, type: string): readonly FormEntry[] {
    const { essence, parameters } = parseMediaType(type) ?? { essence: '', parameters: [] }
    if (essence === 'application/x-www-form-urlencoded') {
      const { paramsOf } = use('url-search-params') as unknown as SearchParamsExports
      return [...(paramsOf(decodeUtf8(host, bytes), () => {}) as Iterable<FormEntry>)]
    }
    const boundary = parameters.find(([name]) => name === 'boundary')?.[1]
    if (essence !== 'multipart/form-data' || boundary === undefined) {
      throw new TypeError(
        'The body is no form: its content-type is neither urlencoded nor multipart/form-data.',
      )
    }
    const entries = readMultipart(bytes, boundary)
    if (entries === undefined) throw new TypeError('The body is no multipart/form-data.')
    return entries
  }

  function normalType(type: string): string {
    const parsed = parseMediaType(type)
    return parsed === undefined ? '' : mediaTypeText(parsed)
  }

  return { writeMultipart, readForm, normalType }
}
export default unit

/** What the headers of a part say; undefined without a name. */
function disposition(head: string): { name: string; fileName: string | undefined; type: string } | undefined {
  let [name, fileName]: (string | undefined)[] = []
  let type = 'text/plain'
  for (const line of head.split('\r\n')) {
    const at = line.indexOf(':')
    const value = line.slice(at + 1).trim()
    switch (line.slice(0, Math.max(at, 0)).trim().toLowerCase()) {
      case 'content-disposition':
        if (!/^form-data\s*(;|$)/i.test(value)) return undefined
        name = parameter(value, 'name')
        fileName = parameter(value, 'filename')
        break
      case 'content-type':
        type = value.toLowerCase()
    }
  }
  return name === undefined ? undefined : { name, fileName, type }
}

function parameter(header: string, name: string): string | undefined {
  for (const [, key, quotedValue, token] of header.matchAll(/;\s*([^=;"\s]+)=(?:"([^"]*)"|([^;"\s]*))/g)) {
    if (key?.toLowerCase() === name) return unquoted(quotedValue ?? token ?? '')
  }
  return undefined
}

function withBreaks(text: string): string {
  return text.replace(/\r\n?|\n/g, '\r\n')
}

function quoted(text: string): string {
  return text.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')
}

function unquoted(text: string): string {
  return text.replace(/%0a/gi, '\n').replace(/%0d/gi, '\r').replaceAll('%22', '"')
}

function startsWith(bytes: Uint8Array, what: ArrayLike<number>, at: number): boolean {
  for (let i = 0; i < what.length; i += 1) if (bytes[at + i] !== what[i]) return false
  return true
}

/** Where `what` comes first from `at` on; -1 where it does not. */
function find(bytes: Uint8Array, what: ArrayLike<number>, at: number): number {
  const first = what[0] as number
  for (let i = bytes.indexOf(first, at); i >= 0; i = bytes.indexOf(first, i + 1)) {
    if (startsWith(bytes, what, i)) return i
  }
  return -1
}
