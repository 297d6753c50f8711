/** Hosts of URLs that are more than plain names: addresses, opaque hosts, and what is refused. */
import type { Unit } from '../host.ts'
import { C0_CONTROL, percentEncode } from './url/percent-encode.ts'

export interface UrlHostExports {
  /** Undefined for what is no host. @throws TypeError where a reason helps */
  readonly parseHost: (text: string, opaque: boolean) => string | undefined
}

const unit: Unit<UrlHostExports & Record<string, unknown>> = () => ({ parseHost })
export default unit

const FORBIDDEN_HOST = /[\0\t\n\r #/:<>?@[\\\]^|]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are forbidden.
const FORBIDDEN_DOMAIN = /[\0-\x1f\x7f %#/:<>?@[\\\]^|]/

function parseHost(text: string, opaque: boolean): string | undefined {
  if (text[0] === '[') {
    const pieces = text.endsWith(']') ? parseIpv6(text.slice(1, -1)) : undefined
    return pieces && `[${serializeIpv6(pieces)}]`
  }
  if (opaque) return FORBIDDEN_HOST.test(text) ? undefined : percentEncode(text, C0_CONTROL)
  const decoded = text.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  if (/[^\0-\x7f]/.test(decoded)) {
    throw new TypeError(
      `Invalid URL: the host "${text}" has characters beyond ASCII, and a guest has no tables for them. Write it in punycode (xn--...).`,
    )
  }
  const domain = decoded.toLowerCase()
  if (domain === '' || FORBIDDEN_DOMAIN.test(domain)) return undefined
  const labels = domain.split('.')
  if (labels.some((label) => label.startsWith('xn--') && !/^xn--[a-z0-9-]+$/.test(label))) return undefined
  if (labels.length > 1 && labels.at(-1) === '') labels.pop()
  const last = labels.at(-1) as string
  return /^[0-9]+$/.test(last) || numberOf(last) !== undefined ? parseIpv4(labels) : domain
}

/** A number of an IPv4 address: decimal, octal or hexadecimal. */
function numberOf(text: string): number | undefined {
  if (/^0x[0-9a-f]*$/.test(text)) return text.length === 2 ? 0 : Number.parseInt(text, 16)
  if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8)
  return /^(?:0|[1-9][0-9]*)$/.test(text) ? Number(text) : undefined
}

function parseIpv4(parts: readonly string[]): string | undefined {
  if (parts.length > 4) return undefined
  let address = 0
  for (const [i, part] of parts.entries()) {
    const number = numberOf(part)
    const isLast = i === parts.length - 1
    if (number === undefined || number >= (isLast ? 256 ** (5 - parts.length) : 256)) return undefined
    address += isLast ? number : number * 256 ** (3 - i)
  }
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

/** Eight pieces of 16 bits. */
function parseIpv6(text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half, i) => piecesOf(half, i === halves.length - 1))
  if (head === undefined) return undefined
  if (halves.length === 1) return head.length === 8 ? head : undefined
  if (tail === undefined || head.length + tail.length > 7) return undefined
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/** @param mayEndInIpv4 whether it is the end of the address */
function piecesOf(text: string, mayEndInIpv4: boolean): number[] | undefined {
  if (text === '') return []
  const pieces: number[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    if (/^[0-9A-Fa-f]{1,4}$/.test(part)) pieces.push(Number.parseInt(part, 16))
    else {
      const bytes = mayEndInIpv4 && i === parts.length - 1 ? part.split('.') : []
      if (bytes.length !== 4 || !bytes.every((byte) => /^(?:0|[1-9][0-9]{0,2})$/.test(byte) && +byte < 256)) {
        return undefined
      }
      const [a, b, c, d] = bytes.map(Number) as [number, number, number, number]
      pieces.push(a * 256 + b, c * 256 + d)
    }
  }
  return pieces.length > 8 ? undefined : pieces
}

function serializeIpv6(pieces: readonly number[]): string {
  // The first of the longest runs of zeros, if it is longer than one.
  let start = -1
  let length = 1
  for (let i = 0; i < 8; i += 1) {
    let end = i
    while (end < 8 && pieces[end] === 0) end += 1
    if (end - i > length) {
      start = i
      length = end - i
    }
  }
  const hex = (part: readonly number[]) => part.map((piece) => piece.toString(16)).join(':')
  return start < 0 ? hex(pieces) : `${hex(pieces.slice(0, start))}::${hex(pieces.slice(start + length))}`
}
