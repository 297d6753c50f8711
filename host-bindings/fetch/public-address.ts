/**
 * Which IP addresses are out on the internet. Everything else (this machine, its networks, the metadata services of
 * clouds, tunnels that lead anywhere) is refused unless it was excepted by address and port.
 *
 * 1. What is not known to be public is not: an address must be global unicast and in none of the reserved ranges.
 * 2. An address that carries an IPv4 address (mapped, NAT64) is what it carries. 6to4, Teredo and local NAT64 are
 *    refused, whatever they carry.
 */
import ipaddr from 'ipaddr.js'
import { CaissonError } from '../../src/base/errors.ts'

/** Public by number, internal by use: Azure's platform service answers there inside every virtual machine. */
const INTERNAL_BY_USE: ReadonlySet<string> = new Set(['168.63.129.16'])
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
/** RFC 6052: the prefix that is the same everywhere. What networks choose for themselves (RFC 8215) is theirs. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** RFC 9637: documentation. */
const DOCUMENTATION = ipaddr.IPv6.parseCIDR('3fff::/20')

/** Whether `address` (IPv4 in four decimal parts, or IPv6 without brackets) is public. False for any other text. */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address)
  return parsed !== undefined && isPublic(parsed)
}

/** The one way to write an address; undefined for what is none. A zone (`%eth0`) makes it none. */
export function canonicalAddress(address: string): string | undefined {
  const parsed = parseAddress(address)
  if (parsed === undefined) return undefined
  return isIPv6(parsed) && parsed.isIPv4MappedAddress()
    ? parsed.toIPv4Address().toString()
    : parsed.toString()
}

/** The address in `URL.hostname`; undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  return canonicalAddress(hostname.replace(/^\[(.*)\]$/, '$1'))
}

/** Exceptions: connections to these addresses and ports, and no others, although they are not public. */
export type PrivateExceptions = ReadonlySet<string>

/**
 * Parses `address:port` and `localhost:port` (both loopback addresses).
 * @throws CaissonError `invalid_argument`
 */
export function parsePrivateExceptions(list: readonly string[]): PrivateExceptions {
  const exceptions = new Set<string>()
  for (const text of list) {
    const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? []
    const addresses = host === 'localhost' ? ['127.0.0.1', '::1'] : [literalAddress(host)]
    for (const address of addresses) {
      if (address === undefined || !(Number(port) >= 1 && Number(port) <= 65_535)) {
        throw new CaissonError(
          'invalid_argument',
          `allowPrivate takes "127.0.0.1:8080", "[::1]:8080" or "localhost:8080", not ${JSON.stringify(text)}.`,
        )
      }
      exceptions.add(exceptionKey(address, Number(port)))
    }
  }
  return exceptions
}

/** Whether a connection to this address and port may be opened. */
export function mayConnect(address: string, port: number, exceptions: PrivateExceptions): boolean {
  const canonical = canonicalAddress(address)
  if (canonical === undefined) return false
  return isPublicAddress(canonical) || exceptions.has(exceptionKey(canonical, port))
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

function isPublic(address: Address): boolean {
  if (!isIPv6(address)) return address.range() === 'unicast' && !INTERNAL_BY_USE.has(address.toString())
  const range = address.range()
  if (range === 'ipv4Mapped') return isPublic(address.toIPv4Address())
  if (address.match(NAT64)) return isPublic(new ipaddr.IPv4(address.toByteArray().slice(12)))
  return range === 'unicast' && address.match(GLOBAL_UNICAST) && !address.match(DOCUMENTATION)
}

function isIPv6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6'
}

function parseAddress(text: string): Address | undefined {
  // The library also takes the short, octal and hexadecimal forms of IPv4, which no resolver or URL gives.
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return undefined
  return ipaddr.IPv6.parse(text)
}

function exceptionKey(address: string, port: number): string {
  return `${address}|${port}`
}
