import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/base/digest.ts'
import type { RunStore } from '../../../src/ports/run-store.ts'
import { simulateMachine } from '../../../test/faults/simulated-machine.ts'
import { type Operation, watchFolder } from '../../../test/faults/watched-folder.ts'
import { openCheckedDirectory } from '../../files/node/checked-directory.node.ts'
import { describeRunStore } from '../run-store.contract.ts'
import { HOUR_MS, headOf, text } from '../run-store.testkit.ts'
import { openDirectoryRunStore, openRunStoreIn } from './directory-run-store.node.ts'
import { thisMachine } from './machine.node.ts'
import { openFolder } from './store-root.node.ts'

const scratch = mkdtempSync(join(tmpdir(), 'caisson-store-'))
const opened: RunStore[] = []
let places = 0

afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()))
  rmSync(scratch, { recursive: true, force: true })
})

function newPath(): string {
  places += 1
  return join(scratch, `${places}`)
}

async function open(path: string): Promise<RunStore> {
  const store = await openDirectoryRunStore(path)
  opened.push(store)
  return store
}

describeRunStore('directory', async () => {
  const path = newPath()
  return { store: await open(path), another: () => open(path) }
})

// As on systems where names cannot be looked up by descriptor.
describeRunStore('directory, by paths', async () => {
  const path = newPath()
  mkdirSync(path)
  const openByPath = async (): Promise<RunStore> => {
    const store = await openRunStoreIn(await openCheckedDirectory(path), thisMachine())
    opened.push(store)
    return store
  }
  return { store: await openByPath(), another: openByPath }
})

describe('the folder of a store', () => {
  it('is made where it is missing, for nobody else to read, and opened again', async () => {
    const path = join(newPath(), 'deep/er')
    const store = await open(path)
    const lease = await store.lease('r', HOUR_MS)
    await store.append('r', 0, [text('secret')], lease)
    await store.close()
    expect(readdirSync(path).sort()).toEqual(['blobs', 'format', 'runs'])
    expect(statSync(path).mode & 0o77).toBe(0)
    const run = join(path, 'runs/run-r=')
    for (const name of readdirSync(run)) expect(statSync(join(run, name)).mode & 0o77, name).toBe(0)
    expect(await (await open(path)).entries('r', 0, 9)).toEqual([text('secret')])
  })

  it('is refused when it holds something else, which stays as it is', async () => {
    const path = newPath()
    mkdirSync(path)
    writeFileSync(join(path, 'thesis.txt'), 'mine')
    await expect(openDirectoryRunStore(path)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect(readdirSync(path)).toEqual(['thesis.txt'])
    await expect(openDirectoryRunStore(join(path, 'thesis.txt'))).rejects.toMatchObject({
      code: 'store_failed',
    })
    for (const wrong of ['', 'a\0b', undefined]) {
      await expect(openDirectoryRunStore(wrong as string)).rejects.toMatchObject({ code: 'invalid_argument' })
    }
  })

  it('is refused when it is a store of another version', async () => {
    const path = newPath()
    await (await openDirectoryRunStore(path)).close()
    writeFileSync(join(path, 'format'), 'caisson store 2\n')
    await expect(openDirectoryRunStore(path)).rejects.toMatchObject({ code: 'unsupported' })
  })

  it('may be moved while it is open, and is missed when it is removed', async () => {
    const path = newPath()
    const store = await open(path)
    const lease = await store.lease('r', HOUR_MS)
    await store.append('r', 0, [text('a')], lease)
    renameSync(path, `${path}-moved`)
    await store.append('r', 1, [text('b')], lease)
    expect(await store.entries('r', 0, 9)).toHaveLength(2)
    rmSync(`${path}-moved`, { recursive: true })
    const vanished = { code: 'store_failed' }
    const id = sha256(text('x'))
    await expect(store.head('q')).rejects.toMatchObject({ ...vanished, details: { vanished: true } })
    await expect(store.getBlob(id)).rejects.toMatchObject({ ...vanished, details: { vanished: true } })
    await expect(store.runs()).rejects.toMatchObject({ ...vanished, details: { vanished: true } })
    await expect(store.append('r', 2, [text('c')], lease)).rejects.toMatchObject(vanished)
    await expect(store.putBlob(id, text('x'))).rejects.toMatchObject(vanished)
    await expect(store.setHead('r', headOf(1), lease)).rejects.toMatchObject(vanished)
    await expect(store.lease('q', HOUR_MS)).rejects.toMatchObject(vanished)
    await lease.release()
  })

  it('is missed when another one stands in its place', async () => {
    const path = newPath()
    const store = await open(path)
    for (const name of ['runs', 'blobs']) {
      renameSync(join(path, name), join(path, `old-${name}`))
      mkdirSync(join(path, name))
    }
    await expect(store.head('r')).rejects.toMatchObject({ code: 'store_failed', details: { vanished: true } })
  })

  it.skipIf(process.platform === 'win32')('leads nowhere through links', async () => {
    const path = newPath()
    const outside = newPath()
    mkdirSync(outside)
    const store = await open(path)
    const id = sha256(text('secret'))
    writeFileSync(join(outside, 'file'), 'secret')
    symlinkSync(join(outside, 'file'), join(path, 'blobs', id.slice(7)))
    await expect(store.getBlob(id)).rejects.toMatchObject({ code: 'store_failed' })
    symlinkSync(outside, join(path, 'runs/run-r='))
    await expect(store.lease('r', HOUR_MS)).rejects.toMatchObject({ code: 'store_failed' })
    await expect(store.head('r')).rejects.toMatchObject({ code: 'store_failed' })
    expect(readdirSync(outside)).toEqual(['file'])

    const linked = newPath()
    mkdirSync(linked)
    symlinkSync(join(path, 'runs'), join(linked, 'runs'))
    writeFileSync(join(linked, 'format'), 'caisson store 1\n')
    mkdirSync(join(linked, 'blobs'))
    await expect(openDirectoryRunStore(linked)).rejects.toMatchObject({ code: 'store_failed' })
  })

  it('does not touch, list or remove what others put into it', async () => {
    const path = newPath()
    const store = await open(path)
    const lease = await store.lease('r', HOUR_MS)
    await store.setHead('r', headOf(1), lease)
    await lease.release()
    const strange = [
      'runs/run-UPPER=',
      'runs/other',
      'runs/run-a=f',
      'blobs/readme',
      `blobs/${'A'.repeat(64)}`,
    ]
    for (const name of strange) mkdirSync(join(path, name))
    expect(await store.runs()).toEqual(['r'])
    expect(await store.collect({ graceMs: 0 })).toMatchObject({ removed: 0 })
    for (const name of strange) expect(existsSync(join(path, name)), name).toBe(true)
  })
})

describe('a directory store', () => {
  it('keeps a few folders open, however many runs there are', async () => {
    // Those of other tests are open, too.
    const descriptors = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0)
    const before = descriptors()
    const store = await open(newPath())
    const leases = []
    for (let n = 0; n < 150; n++) {
      const lease = await store.lease(`run-${n}`, HOUR_MS)
      await store.append(`run-${n}`, 0, [text(`${n}`)], lease)
      leases.push(lease)
    }
    expect(descriptors() - before).toBeLessThan(150)
    for (const [n, lease] of leases.entries()) await store.append(`run-${n}`, 1, [text('more')], lease)
    expect(await store.entries('run-0', 0, 9)).toEqual([text('0'), text('more')])
    expect(await store.runs()).toHaveLength(150)
  })

  it('refuses a state that was changed, and touches nothing of the run', async () => {
    const path = newPath()
    const store = await open(path)
    const id = sha256(text('x'))
    await store.putBlob(id, text('x'))
    const lease = await store.lease('r', HOUR_MS)
    await store.setHead('r', headOf(1, id), lease)
    await lease.release()
    await store.close()
    const folder = join(path, 'runs/run-r=')
    const newest = readdirSync(folder).sort().at(-1) ?? ''
    const bytes = readFileSync(join(folder, newest))
    bytes[20] = (bytes[20] as number) ^ 1
    writeFileSync(join(folder, newest), bytes)
    const again = await open(path)
    for (const attempt of [again.head('r'), again.lease('r', 1), again.entries('r', 0, 1), again.runs()]) {
      await expect(attempt).rejects.toMatchObject({ code: 'corrupted' })
    }
    // What cannot be read might need any checkpoint: none is collected.
    await expect(again.collect({ graceMs: 0 })).rejects.toMatchObject({ code: 'corrupted' })
    expect(await again.getBlob(id)).toBeDefined()
  })

  it('collects what dead processes left behind, and begins no run anew below its old tokens', async () => {
    const path = newPath()
    const store = await open(path)
    const lease = await store.lease('r', HOUR_MS)
    await store.append('r', 0, [text('a')], lease)
    await lease.release()
    const run = join(path, 'runs/run-r=')
    for (const name of ['tmp-dead', `log-${'0'.repeat(32)}`, 'beat-1']) writeFileSync(join(run, name), 'x')
    await store.collect()
    expect(readdirSync(run).filter((name) => !/^(state|log)-/.test(name))).toEqual([])
    expect(readdirSync(run).filter((name) => name.startsWith('log-'))).toHaveLength(1)
    const last = await store.lease('r', HOUR_MS)
    await store.remove('r', last)
    expect(existsSync(run)).toBe(false)
    expect((await store.lease('r', HOUR_MS)).fencingToken).toBeGreaterThan(last.fencingToken)
  })

  it('does not let a late process write to a run that was removed and made anew', async () => {
    const path = newPath()
    const late = await openRunStoreIn(await openFolder(path), simulateMachine('a'))
    const machine = simulateMachine('b')
    const other = await openRunStoreIn(await openFolder(path), machine)
    opened.push(late, other)
    const old = await late.lease('r', 1_000)
    await late.append('r', 0, [text('old')], old)
    await expect(other.lease('r', 1_000)).rejects.toMatchObject({ details: { retryAfterMs: 1_000 } })
    machine.pass(1_000)
    await other.remove('r', await other.lease('r', 1_000))
    const fresh = await other.lease('r', 1_000)
    await other.append('r', 0, [text('new')], fresh)
    const lost = { code: 'lease_lost' }
    await expect(late.append('r', 1, [text('late')], old)).rejects.toMatchObject(lost)
    expect(await old.held()).toBe(false)
    expect(await late.entries('r', 0, 9)).toEqual([text('new')])
    await other.append('r', 1, [text('more')], fresh)
  })

  it('tells a late process that it lost the run also where the files that it knows were put away', async () => {
    const path = newPath()
    const late = await openRunStoreIn(await openFolder(path), simulateMachine('a'))
    const machine = simulateMachine('b')
    const other = await openRunStoreIn(await openFolder(path), machine)
    opened.push(late, other)
    const first = await late.lease('r', 1_000)
    await late.append('r', 0, [text('a')], first)
    await first.release()
    const old = await late.lease('r', 1_000) // frozen before it writes anything
    await expect(other.lease('r', 1_000)).rejects.toMatchObject({ code: 'store_conflict' })
    machine.pass(1_000)
    const next = await other.lease('r', 1_000)
    await other.append('r', 1, [text('b')], next)
    await expect(late.append('r', 1, [text('late')], old)).rejects.toMatchObject({ code: 'lease_lost' })
    expect(await other.entries('r', 0, 9)).toEqual([text('a'), text('b')])
  })

  it('does not let a late process begin the run anew that is just being removed', async () => {
    const path = newPath()
    let meanwhile: Promise<unknown> | undefined
    let letGo = (): void => {}
    const paused = new Promise<void>((resolve) => {
      letGo = resolve
    })
    let reached = (): void => {}
    const atLink = new Promise<void>((resolve) => {
      reached = resolve
    })
    const lateFolder = watchFolder(await openFolder(path), {
      before: ({ name }) => {
        if (name !== 'link' || meanwhile === undefined) return undefined
        reached()
        return paused
      },
    })
    const late = await openRunStoreIn(lateFolder, simulateMachine('here', '1'))
    const old = await late.lease('r', HOUR_MS)
    await late.append('r', 0, [text('old')], old)
    const removing = watchFolder(await openFolder(path), {
      before: async ({ name }) => {
        if (name !== 'removeDirectory') return
        letGo()
        await meanwhile
      },
    })
    const other = await openRunStoreIn(removing, simulateMachine('here', '2', new Set(['1'])))
    opened.push(late, other)
    // It knows the state, and is about to replace it, while another takes the run and removes it.
    meanwhile = Promise.resolve()
    const setting = late.setHead('r', headOf(1), old).catch((error: unknown) => error)
    await atLink
    meanwhile = setting
    await other.remove('r', await other.lease('r', HOUR_MS))
    expect(await setting).toMatchObject({ code: 'lease_lost' })
    expect(await other.runs()).toEqual([])
    expect(await other.head('r')).toBeUndefined()
    expect((await other.lease('r', HOUR_MS)).fencingToken).toBeGreaterThan(old.fencingToken)
  })

  it('renews without making anything durable, and lets who is late go on only if nobody came', async () => {
    const path = newPath()
    const machine = simulateMachine('here', '1')
    const neighbour = { ...simulateMachine('here', '2'), uptimeMs: machine.uptimeMs }
    const store = await openRunStoreIn(await openFolder(path), machine)
    const other = await openRunStoreIn(await openFolder(path), neighbour)
    opened.push(store, other)
    const lease = await store.lease('r', 1_000)
    machine.pass(900)
    await lease.renew(1_000)
    machine.pass(900)
    await expect(other.lease('r', 1_000)).rejects.toMatchObject({ details: { retryAfterMs: 100 } })
    machine.pass(200)
    expect(await lease.held()).toBe(false)
    await lease.renew(1_000)
    expect(await lease.held()).toBe(true)
    await expect(other.lease('r', 1_000)).rejects.toMatchObject({ code: 'store_conflict' })
    machine.pass(1_000)
    const next = await other.lease('r', 1_000)
    await expect(lease.renew(1_000)).rejects.toMatchObject({ code: 'lease_lost' })
    expect(await next.held()).toBe(true)
  })

  it('says what failed when it is not allowed to write', async () => {
    const path = newPath()
    const forbid = ({ name }: Operation): void => {
      if (name === 'openFile') throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
    }
    let forbidding = false
    const folder = watchFolder(await openFolder(path), {
      before: (operation) => {
        if (forbidding) forbid(operation)
      },
    })
    const store = await openRunStoreIn(folder, simulateMachine('here'))
    opened.push(store)
    forbidding = true
    const denied = { code: 'store_failed', details: { errno: 'EACCES' }, cause: { code: 'EACCES' } }
    await expect(store.putBlob(sha256(text('x')), text('x'))).rejects.toMatchObject(denied)
    await expect(store.lease('r', HOUR_MS)).rejects.toMatchObject(denied)
    forbidding = false
    await (await store.lease('r', HOUR_MS)).release()
  })

  it('syncs as often as docs/stores.md says', async () => {
    const counts: Record<string, number> = {}
    const folder = watchFolder(await openFolder(newPath()), {
      before: ({ name }) => {
        counts[name] = (counts[name] ?? 0) + 1
      },
    })
    const store = await openRunStoreIn(folder, simulateMachine('here'))
    opened.push(store)
    const syncsOf = async (act: () => Promise<unknown>): Promise<number> => {
      for (const name of Object.keys(counts)) delete counts[name]
      await act()
      return (counts.datasync ?? 0) + (counts.sync ?? 0)
    }
    const lease = await store.lease('r', HOUR_MS)
    const id = sha256(text('x'))
    const measured = {
      'putBlob, new': await syncsOf(() => store.putBlob(id, text('x'))),
      'putBlob, known': await syncsOf(() => store.putBlob(id, text('x'))),
      'append, first of a lease': await syncsOf(() => store.append('r', 0, [text('a')], lease)),
      'append, every other': await syncsOf(() => store.append('r', 1, [text('b')], lease)),
      setHead: await syncsOf(() => store.setHead('r', headOf(1, id), lease)),
      'renew, in time': await syncsOf(() => lease.renew(HOUR_MS)),
      'held, head, getBlob, entries': await syncsOf(() =>
        Promise.all([lease.held(), store.head('r'), store.getBlob(id), store.entries('r', 0, 9)]),
      ),
      release: await syncsOf(() => lease.release()),
      'lease, of a run that was given back': await syncsOf(() => store.lease('r', HOUR_MS)),
      'lease, of a new run': await syncsOf(() => store.lease('q', HOUR_MS)),
    }
    const documented = readFileSync(join(import.meta.dirname, '../../../docs/stores.md'), 'utf8')
    const rows = [...documented.matchAll(/^\| `?([^|`]+?)`? \| (\d+) \| /gm)]
    expect(Object.fromEntries(rows.map(([, name, syncs]) => [name, Number(syncs)]))).toEqual(measured)
  })
})
