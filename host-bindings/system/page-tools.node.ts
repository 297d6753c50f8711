/** Comparing pages by the C library and digesting them by OpenSSL: each ten times as fast as a loop in JavaScript. */
import { Buffer } from 'node:buffer'
import type { PageTools } from '../../src/ports/page-tools.ts'
import { nodeHash } from './hash.node.ts'

// Works on any Uint8Array, and making a Buffer of each would cost more than comparing.
const { compare } = Buffer.prototype

export const nodePageTools: PageTools = {
  samePage: (memory, start, page) =>
    compare.call(memory as Buffer, page, 0, page.length, start, start + page.length) === 0,
  sha256: nodeHash.sha256,
}
