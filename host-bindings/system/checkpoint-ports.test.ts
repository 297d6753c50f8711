/** What the ports of checkpoints promise, on both platforms. */
import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { toHex } from '../../src/base/bytes.ts'
import type { CheckpointPorts } from '../../src/ports/checkpoint-ports.ts'
import { nodeCheckpointPorts } from './checkpoint-ports.node.ts'
import { webCheckpointPorts } from './web-checkpoint-ports.ts'

const text = (value: string): Uint8Array => new TextEncoder().encode(value)
const key = new Uint8Array(32).fill(7)
const nonce = new Uint8Array(12).fill(9)

describe.each<[string, CheckpointPorts, CheckpointPorts]>([
  ['node', nodeCheckpointPorts, webCheckpointPorts],
  ['web', webCheckpointPorts, nodeCheckpointPorts],
])('the codec of %s', (_, { codec }, others) => {
  it.each([0, 1, 4_096, 65_537, 300_000])(
    'gives %i bytes back, also from the other platform',
    async (length) => {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * i) >>> 7)
      for (const { deflate } of [codec, others.codec]) {
        const deflated = await deflate(bytes)
        if (length > 1_000) expect(deflated.length).toBeLessThan(length)
        const inflated = await codec.inflate(deflated, length)
        expect(Buffer.compare(inflated, bytes)).toBe(0)
        expect(inflated.buffer.byteLength).toBe(length)
      }
    },
  )

  it.each([
    ['more than allowed', new Uint8Array(5_000), (deflated: Uint8Array) => deflated, 4_999],
    ['more than nothing', new Uint8Array(1), (deflated: Uint8Array) => deflated, 0],
    ['a cut stream', new Uint8Array(5_000), (deflated: Uint8Array) => deflated.subarray(0, -1), 5_000],
    ['nothing', text('abc'), () => new Uint8Array(0), 3],
    ['no deflate stream', text('abc'), () => new Uint8Array([0xff, 0xff, 0xff]), 3],
  ])('refuses %s', async (_name, bytes, change, maxBytes) => {
    const hostile = change(deflateRawSync(bytes))
    const inflating = (async () => codec.inflate(hostile, maxBytes))()
    await expect(inflating).rejects.toMatchObject({ code: 'corrupted' })
  })

  it('stops a bomb at its cap', async () => {
    const bomb = deflateRawSync(new Uint8Array(64 * 1_048_576))
    const before = process.memoryUsage.rss()
    const inflating = (async () => codec.inflate(bomb, 100_000))()
    await expect(inflating).rejects.toMatchObject({ code: 'corrupted' })
    expect(process.memoryUsage.rss() - before).toBeLessThan(32 * 1_048_576)
  })
})

describe('the codec of node', () => {
  it('refuses bytes after the stream, small or large, which not every platform notices', async () => {
    const { codec } = nodeCheckpointPorts
    for (const length of [3, 100_000]) {
      const hostile = Buffer.concat([deflateRawSync(new Uint8Array(length)), Buffer.of(0)])
      const inflating = (async () => codec.inflate(hostile, length))()
      await expect(inflating).rejects.toMatchObject({ code: 'corrupted' })
    }
  })
})

describe.each<[string, CheckpointPorts]>([
  ['node', nodeCheckpointPorts],
  ['web', webCheckpointPorts],
])('the hash of %s', (_, { hash }) => {
  it('is SHA-256 and HMAC-SHA-256', () => {
    expect(toHex(hash.sha256(text('abc')))).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
    // RFC 4231, test case 2.
    expect(toHex(hash.hmacSha256(text('Jefe'), text('what do ya want for nothing?')))).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    )
  })

  it('is the same in pieces as in one', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), fc.nat(500), (bytes, cut) => {
        for (const [stream, whole] of [
          [hash.openSha256(), hash.sha256(bytes)],
          [hash.openHmacSha256(key), hash.hmacSha256(key, bytes)],
        ] as const) {
          stream.update(bytes.subarray(0, cut))
          stream.update(bytes.subarray(cut))
          expect(stream.digest()).toEqual(whole)
        }
      }),
    )
  })

  it.each([0, 1, 32, 63, 64, 65, 200])(
    'is the same in one with a key of %i bytes, short or long',
    (length) => {
      const secret = Uint8Array.from({ length }, (_, i) => 3 * i + 1)
      for (const bytes of [0, 1, 55, 56, 64, 8_191, 8_192, 8_193, 20_000]) {
        const message = Uint8Array.from({ length: bytes }, (_, i) => i * i)
        const stream = hash.openHmacSha256(secret)
        stream.update(message)
        expect(toHex(hash.hmacSha256(secret, message))).toBe(toHex(stream.digest()))
      }
    },
  )

  it('gives bytes of their own, not a window into a pool', () => {
    expect(hash.sha256(text('abc')).buffer.byteLength).toBe(32)
    expect(hash.hmacSha256(key, text('abc')).buffer.byteLength).toBe(32)
  })
})

describe.each<[string, CheckpointPorts, CheckpointPorts]>([
  ['node', nodeCheckpointPorts, webCheckpointPorts],
  ['web', webCheckpointPorts, nodeCheckpointPorts],
])('the cipher of %s', (_, { cipher }, others) => {
  const additional = text('header')

  it('is AES-256-GCM', async () => {
    // Test case 14 of the specification of GCM.
    const sealed = await cipher.encrypt(new Uint8Array(32), new Uint8Array(12), text(''), new Uint8Array(16))
    expect(toHex(sealed)).toBe('cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919')
  })

  it.each([0, 1, 1_000, 700_000])('gives %i bytes back, also from the other platform', async (length) => {
    const plain = Uint8Array.from({ length }, (_, i) => i)
    for (const { encrypt } of [cipher, others.cipher]) {
      const sealed = await encrypt(key, nonce, additional, plain)
      expect(sealed).toHaveLength(length + 16)
      const opened = await cipher.decrypt(key, nonce, additional, sealed)
      expect(Buffer.compare(opened ?? Buffer.of(), plain)).toBe(0)
    }
  })

  it.each([100, 700_000])('gives nothing unless all %i bytes are right', async (length) => {
    const sealed = await cipher.encrypt(key, nonce, additional, new Uint8Array(length))
    const flipped = sealed.slice()
    flipped[3] = (flipped[3] ?? 0) ^ 1
    expect(await cipher.decrypt(key, nonce, additional, flipped)).toBeUndefined()
    expect(await cipher.decrypt(key, nonce, additional, sealed.subarray(1))).toBeUndefined()
    expect(await cipher.decrypt(key, nonce, additional, sealed.subarray(0, 10))).toBeUndefined()
    expect(await cipher.decrypt(key, nonce, text('other'), sealed)).toBeUndefined()
    expect(await cipher.decrypt(new Uint8Array(32), nonce, additional, sealed)).toBeUndefined()
    expect(await cipher.decrypt(key, new Uint8Array(12), additional, sealed)).toBeUndefined()
  })
})

describe.each<[string, CheckpointPorts]>([
  ['node', nodeCheckpointPorts],
  ['web', webCheckpointPorts],
])('the pause of %s', (_, { pause }) => {
  it("lets the host's timers and sockets have their turn", async () => {
    let fired = false
    setTimeout(() => {
      fired = true
    }, 1)
    const until = Date.now() + 5_000
    while (!fired && Date.now() < until) await pause()
    expect(fired).toBe(true)
  })
})

describe('the pause of web', () => {
  it('falls back to a timer where there are no message channels', async () => {
    vi.stubGlobal('MessageChannel', undefined)
    await expect(webCheckpointPorts.pause()).resolves.toBeUndefined()
  })
})
