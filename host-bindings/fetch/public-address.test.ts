import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPublicAddress, mayConnect, parsePrivateExceptions } from './public-address.ts'

describe('public addresses', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.0',
    '2606:4700:4700::1111',
    '2a00:1450:4001::1',
  ])('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    ['this network', '0.0.0.0'],
    ['loopback', '127.0.0.1'],
    ['all of loopback', '127.255.255.254'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['a cloud metadata service in it', '100.100.100.200'],
    ['link-local', '169.254.169.254'],
    ['protocol assignments', '192.0.0.192'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['6to4 relays', '192.88.99.1'],
    ['benchmarking', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['internal by use', '168.63.129.16'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['IPv4-compatible', '::7f00:1'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped loopback', '::ffff:7f00:1'],
    ['NAT64 of loopback', '64:ff9b::7f00:1'],
    ['NAT64 of private', '64:ff9b::10.0.0.1'],
    ['local NAT64', '64:ff9b:1::808:808'],
    ['6to4', '2002:7f00:1::'],
    ['6to4 of a public address', '2002:808:808::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['unique local', 'fd00:ec2::254'],
    ['unique local', 'fc00::1'],
    ['link-local', 'fe80::1'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['discard', '100::1'],
    ['segment routing', '5f00::1'],
    ['unassigned', '4000::1'],
    ['a zone', 'fe80::1%eth0'],
    ['a public address with a zone', '2606:4700::1%eth0'],
    ['a short form', '127.1'],
    ['an octal form', '0177.0.0.1'],
    ['a number', '2130706433'],
    ['a hexadecimal form', '0x7f000001'],
    ['a name', 'localhost'],
    ['nothing', ''],
  ])('%s is not: %s', (_what, address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it('1: whatever is in IPv6 but outside 2000::/3 and does not carry a public IPv4 address is not public', () => {
    const address = fc.ipV6().filter((text) => !text.includes('.'))
    fc.assert(
      fc.property(address, (text) => {
        const first = Number.parseInt(text.startsWith('::') ? '0' : (text.split(':')[0] ?? '0'), 16)
        if ((first & 0xe000) === 0x2000 || /^(::|0*:|0*64:0*ff9b:)/i.test(text)) return
        expect(isPublicAddress(text)).toBe(false)
      }),
    )
  })

  it('2: mapped and NAT64 addresses are what they carry', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublicAddress(`::ffff:${address}`)).toBe(isPublicAddress(address))
        expect(isPublicAddress(`64:ff9b::${address}`)).toBe(isPublicAddress(address))
      }),
    )
  })

  it('exceptions are one address on one port, however it is written', () => {
    const exceptions = parsePrivateExceptions(['127.0.0.1:80', '[::1]:81', 'localhost:82'])
    expect(mayConnect('127.0.0.1', 80, exceptions)).toBe(true)
    expect(mayConnect('::ffff:7f00:1', 80, exceptions)).toBe(true)
    expect(mayConnect('127.0.0.1', 81, exceptions)).toBe(false)
    expect(mayConnect('127.0.0.2', 80, exceptions)).toBe(false)
    expect(mayConnect('0:0:0::1', 81, exceptions)).toBe(true)
    expect(mayConnect('127.0.0.1', 82, exceptions)).toBe(true)
    expect(mayConnect('::1', 82, exceptions)).toBe(true)
    for (const wrong of ['127.0.0.1', 'example.com:80', '127.0.0.1:0', '10.0.0.0/8:80', ':80', '']) {
      expect(() => parsePrivateExceptions([wrong])).toThrow(
        expect.objectContaining({ code: 'invalid_argument' }),
      )
    }
  })
})
