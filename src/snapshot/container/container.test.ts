/** Checkpoints to bytes and back, over both sets of ports. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PAGE_BYTES, PageTree } from '../page-tree.ts'
import {
  ALL_KEYS,
  BASE,
  encodeRun,
  headerOf,
  loaderOf,
  MAC_KEYS,
  PORTS,
  ports,
  randomNumbers,
  STATE,
  stepped,
} from './container.testkit.ts'
import { decodeChain } from './decode-chain.ts'
import { decodeCheckpoint } from './decode-checkpoint.ts'
import { encodeCheckpoint } from './encode-checkpoint.ts'
import { inspectCheckpoint } from './inspect-checkpoint.ts'

describe.each(PORTS)('a container with %s ports', (_, ports) => {
  it.each([
    ['plain', {}],
    ['authenticated', MAC_KEYS],
    ['encrypted', ALL_KEYS],
  ])('gives the checkpoint back: %s', async (_name, keys) => {
    const pages = stepped(BASE, randomNumbers(1))
    const { root: _, ...header } = headerOf({ label: keys === ALL_KEYS ? 'secret' : 'plain' })
    const encoded = await encodeCheckpoint({ header, state: STATE, pages }, { pages: BASE }, { ports, keys })
    const decoded = await decodeCheckpoint(encoded.bytes, { pages: BASE }, { ports, keys })
    expect(decoded.header).toEqual({ ...header, root: pages.root() })
    expect(decoded.state).toEqual(STATE)
    expect(decoded.pages.root()).toBe(pages.root())
  })

  it('gives a chain back', async () => {
    const run = await encodeRun(12, { keys: ALL_KEYS })
    const last = run.at(-1)!
    const decoded = await decodeChain(last.bytes, loaderOf(run), BASE, { ports, keys: ALL_KEYS })
    expect(decoded.pages.root()).toBe(last.pages.root())
    expect(decoded.state).toEqual(last.state)
    expect(decoded.chain).toEqual(run.map(({ id }) => id).reverse())
  })
})
