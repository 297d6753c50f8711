import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/base/bytes.ts'
import { CaissonError } from '../../src/base/errors.ts'
import { parsePublicKey } from './ed25519-keys.ts'
import { nodeSignatureCheck, openSigner as openNodeSigner } from './signer.node.ts'
import { openSigner as openWebSigner, webSignatureCheck } from './web-signer.ts'

/** As `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` wrote them. */
const PRIVATE = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
`
/** The first of the test vectors of RFC 8032. */
const PUBLIC = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
const OF_NOTHING =
  'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b'

const bytes = new TextEncoder().encode('what was done')

const bindings = [
  ['node', openNodeSigner, nodeSignatureCheck],
  ['web', openWebSigner, webSignatureCheck],
] as const

describe.each(bindings)('signatures by %s', (_, openSigner, check) => {
  it('are those of the standard', async () => {
    const signer = await openSigner(PRIVATE)
    expect(toHex(signer.publicKey)).toBe(PUBLIC)
    expect(toHex(await signer.sign(new Uint8Array()))).toBe(OF_NOTHING)
  })

  it('are of exactly these bytes, by exactly this key', async () => {
    const { publicKey, sign } = await openSigner(PRIVATE)
    const signature = await sign(bytes)
    expect(await check.isSigned(bytes, signature, publicKey)).toBe(true)
    expect(await check.isSigned(bytes.subarray(1), signature, publicKey)).toBe(false)
    const changed = signature.slice()
    changed[7] = (changed[7] ?? 0) ^ 1
    expect(await check.isSigned(bytes, changed, publicKey)).toBe(false)
    const other = await openSigner(newKeys().privateKey)
    expect(await check.isSigned(bytes, signature, other.publicKey)).toBe(false)
  })

  it('are none by what is no key, or no signature', async () => {
    const { publicKey, sign } = await openSigner(PRIVATE)
    const signature = await sign(bytes)
    expect(await check.isSigned(bytes, signature, new Uint8Array(3))).toBe(false)
    expect(await check.isSigned(bytes, new Uint8Array(3), publicKey)).toBe(false)
    expect(await check.isSigned(bytes, signature, new Uint8Array(32).fill(255))).toBe(false)
  })

  it('take no other file for a key', async () => {
    const rsa = generateKeyPairSync('rsa', {
      modulusLength: 1024,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    for (const text of ['', 'secret', PUBLIC, rsa.privateKey, newKeys().publicKey])
      await expect(openSigner(text)).rejects.toSatisfy((e) => CaissonError.is(e, 'invalid_argument'))
    expect(() => parsePublicKey(rsa.publicKey)).toThrow(CaissonError)
  })

  it('are checked with keys as openssl writes them', async () => {
    const keys = newKeys()
    const { publicKey, sign } = await openSigner(keys.privateKey)
    expect(parsePublicKey(keys.publicKey)).toEqual(publicKey)
    expect(parsePublicKey(toHex(publicKey))).toEqual(publicKey)
    expect(await check.isSigned(bytes, await sign(bytes), parsePublicKey(keys.publicKey))).toBe(true)
  })
})

function newKeys(): { readonly privateKey: string; readonly publicKey: string } {
  return generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
}
