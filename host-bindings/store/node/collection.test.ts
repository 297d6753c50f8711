/** Collections that meet somebody who sets a head, at the worst moments. */
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Digest, sha256 } from '../../../src/base/digest.ts'
import type { RunHead, RunLease, RunStore } from '../../../src/ports/run-store.ts'
import { simulateMachine } from '../../../test/faults/simulated-machine.ts'
import { type Operation, watchFolder } from '../../../test/faults/watched-folder.ts'
import { openRunStoreIn } from './directory-run-store.node.ts'
import { openFolder } from './store-root.node.ts'

const HOUR_MS = 3_600_000
const CONTENT = new TextEncoder().encode('checkpoint')
const ID: Digest = sha256(CONTENT)
const HEAD: RunHead = { version: 1, chain: [ID], position: 0, summary: new Uint8Array() }

describe('a collection and a head that is being set', () => {
  let path = ''
  let writer: RunStore
  let collector: RunStore
  let lease: RunLease
  /** Called before each operation of the one and the other. */
  let whenWriting: (operation: Operation) => void | Promise<void>
  let whenCollecting: (operation: Operation) => void | Promise<void>

  beforeEach(async () => {
    path = mkdtempSync(join(tmpdir(), 'caisson-collection-'))
    whenWriting = whenCollecting = () => {}
    const open = async (
      process: string,
      before: (operation: Operation) => void | Promise<void>,
    ): Promise<RunStore> =>
      openRunStoreIn(watchFolder(await openFolder(path), { before }), simulateMachine('here', process))
    writer = await open('1', (operation) => whenWriting(operation))
    collector = await open('2', (operation) => whenCollecting(operation))
    lease = await writer.lease('r', HOUR_MS)
    await writer.putBlob(ID, CONTENT)
  })
  afterEach(async () => {
    await writer.close()
    await collector.close()
    rmSync(path, { recursive: true, force: true })
  })

  /** Runs `act` once, before the first operation of this name. */
  const once = (name: string, act: () => Promise<unknown>): ((operation: Operation) => Promise<void>) => {
    let done = false
    return async (operation) => {
      if (done || operation.name !== name) return
      done = true
      await act()
    }
  }

  it('3: does not let a head be set to what was collected since it was looked for', async () => {
    whenWriting = once('link', () => collector.collect({ graceMs: 0 }))
    await expect(writer.setHead('r', HEAD, lease)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(await writer.getBlob(ID)).toBeUndefined()
    expect(await writer.head('r')).toBeUndefined()
    await writer.putBlob(ID, CONTENT)
    await writer.setHead('r', HEAD, lease)
  })

  it('3: leaves what a head came to need after the collection had begun', async () => {
    for (const name of ['rename', 'link', 'removeFile']) {
      whenCollecting = once(name, async () => {
        const version = ((await writer.head('r'))?.version ?? 0) + 1
        await writer.setHead('r', { ...HEAD, version }, lease)
      })
      expect(await collector.collect({ graceMs: 0 }), name).toMatchObject({ removed: 0 })
      expect(await writer.getBlob(ID), name).toEqual(CONTENT)
      const next = ((await writer.head('r'))?.version ?? 0) + 1
      await writer.setHead('r', { ...HEAD, version: next, chain: [] }, lease)
    }
  })

  it('leaves what is put again while it is being collected', async () => {
    for (const name of ['rename', 'link', 'removeFile']) {
      const long = (Date.now() - 2 * HOUR_MS) / 1000
      utimesSync(join(path, 'blobs', ID.slice(7)), long, long)
      whenCollecting = once(name, () => writer.putBlob(ID, CONTENT))
      await collector.collect({ graceMs: HOUR_MS })
      expect(await writer.getBlob(ID), name).toEqual(CONTENT)
    }
  })

  it('can be read and needed while it is set aside, and is put back', async () => {
    let seen: Uint8Array | undefined
    whenCollecting = once('removeFile', async () => {
      expect(readdirSync(join(path, 'blobs'))).toEqual([`aside-${ID.slice(7)}`])
      seen = await writer.getBlob(ID)
      await writer.setHead('r', HEAD, lease)
    })
    expect(await collector.collect({ graceMs: 0 })).toMatchObject({ removed: 0 })
    expect(seen).toEqual(CONTENT)
    expect(readdirSync(join(path, 'blobs'))).toEqual([ID.slice(7)])
  })

  it('goes on where one died in the middle', async () => {
    whenCollecting = ({ name }) => {
      if (name === 'removeFile') throw new Error('the process died here')
    }
    await expect(collector.collect({ graceMs: 0 })).rejects.toMatchObject({ code: 'store_failed' })
    expect(await writer.getBlob(ID)).toEqual(CONTENT)
    expect(await writer.collect({ graceMs: 0 })).toMatchObject({ removed: 1 })
    expect(readdirSync(join(path, 'blobs'))).toEqual([])
  })
})
