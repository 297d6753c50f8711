/** Listings that a guest holds, through both of its interfaces. */
import { describe, expect, it } from 'vitest'
import type { WasiHost } from '../../../src/ports/wasi-host.ts'
import { openWasiHost } from '../wasi-host.ts'
import { testTurns, testWorld } from '../wasi-world.testkit.ts'
import { createWasiMemoryTree } from './memory-tree.ts'

const NAMES = 9_000
/** How many fit: 100,000 entries. */
const MOST = 11

function openHost(): WasiHost {
  const files = Object.fromEntries(Array.from({ length: NAMES }, (_, at) => [`f${at}`, '']))
  const tree = createWasiMemoryTree({ files })
  return openWasiHost(testWorld({ directories: [{ guestPath: '/data', tree }] }), testTurns())
}

interface Listed extends Disposable {
  readDirectoryEntry(): unknown
}

function directoryOf(host: WasiHost): { readDirectory(): Listed } {
  const preopens = 'wasi:filesystem/preopens'
  const { getDirectories } = host.preview2([preopens])[preopens] as unknown as {
    getDirectories(): [directory: { readDirectory(): Listed }, path: string][]
  }
  return (getDirectories()[0] as [{ readDirectory(): Listed }, string])[0]
}

function payloadOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return (error as { payload?: unknown }).payload
  }
}

describe('listings of large directories', () => {
  it('are as many at once as the host has room for, and room comes back with each that is dropped', () => {
    const directory = directoryOf(openHost())
    const held = Array.from({ length: MOST }, () => directory.readDirectory())
    expect(payloadOf(() => directory.readDirectory())).toBe('quota')
    held.pop()?.[Symbol.dispose]()
    expect(directory.readDirectory().readDirectoryEntry()).toBeDefined()
  })

  it('are bounded for descriptors too, which begin one again in its place, and give it back where they are closed', () => {
    const host = openHost()
    const memory = new WebAssembly.Memory({ initial: 1 })
    host.attach(memory)
    const guest = host.preview1() as Readonly<Record<string, (...args: unknown[]) => number>>
    const list = (fd: number): number | undefined => guest.fd_readdir?.(fd, 1_024, 64, 0n, 0)
    new Uint8Array(memory.buffer)[8] = '.'.charCodeAt(0)
    const opened = Array.from({ length: MOST + 1 }, () => {
      expect(guest.path_open?.(3, 0, 8, 1, 2, 1n << 14n, 0n, 0, 16)).toBe(0)
      return new DataView(memory.buffer).getUint32(16, true)
    })
    const [last = 0, ...others] = [...opened].reverse()
    expect(others.map(list)).toEqual(others.map(() => 0))
    expect(others.map(list)).toEqual(others.map(() => 0))
    expect(list(last)).toBe(33)
    expect(guest.fd_close?.(others[0])).toBe(0)
    expect(list(last)).toBe(0)
  })
})

describe('a world whose texts are none', () => {
  it.each([{ args: ['\ud800'] }, { env: { NAME: 'a\udc00' } }, { env: { 'N\ud800': 'a' } }])(
    'is refused when it is opened: %j',
    (given) => {
      expect(() => openWasiHost(testWorld(given), testTurns())).toThrow(/lone surrogates/)
    },
  )
})
