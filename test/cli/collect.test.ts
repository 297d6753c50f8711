/** `caisson collect`: room in a store, and nothing that a run stands on. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Digest } from '../../src/base/digest.ts'
import { openDirectoryRunStore } from '../../src/entry/bindings.node.ts'
import { BOUGHT, flat, type KeptFolder, openKeptFolder, RIGHTS } from './kept.testkit.ts'

let kept: KeptFolder
beforeEach(() => {
  kept = openKeptFolder()
})
afterEach(() => kept.remove())

const run = (name: string, ...more: readonly string[]) =>
  kept.caisson(['run', 'shop.js', ...RIGHTS, '--store', 'runs', '--run', name, ...more])
const collect = (...flags: readonly string[]) => kept.caisson(['collect', '--store', 'runs', ...flags])
const blobs = (): number => readdirSync(join(kept.path, 'runs/blobs')).length

describe('collecting', () => {
  it('removes checkpoints that no run needs, after it said which, and no others', async () => {
    await run('waiting', '--stop-at-call', '1')
    await kept.resume('waiting', '--store', 'runs', '--stop-at-call', '2')
    const before = blobs()
    expect(await collect('--dry-run')).toMatchObject({
      code: 0,
      stdout: 'would remove 0 checkpoints, 0 B\n',
    })
    const store = await openDirectoryRunStore(join(kept.path, 'runs'))
    await store.putBlob(`sha256:${'0'.repeat(64)}` as Digest, new Uint8Array(2048))
    await store.close()
    expect(await collect('--dry-run', '--grace', '0s')).toMatchObject({
      code: 0,
      stdout: 'would remove 1 checkpoint, 2 KiB\n',
    })
    expect(blobs()).toBe(before + 1)
    const { json } = await collect('--grace', '0s', '--json')
    expect(json()).toEqual({ dryRun: false, runs: [], leftAlone: [], checkpoints: 1, bytes: 2048 })
    expect(blobs()).toBe(before)
    expect(await kept.resume('waiting', '--store', 'runs')).toMatchObject({ code: 0, stdout: BOUGHT })
  })

  it('removes runs that have ended where it is told to, and never one that waits or is held (invariants 1 and 2)', async () => {
    await run('done')
    await run('held')
    await run('waiting', '--stop-at-call', '2')
    expect((await collect('--ended', '1h', '--json')).json()).toMatchObject({ runs: [], leftAlone: [] })
    const store = await openDirectoryRunStore(join(kept.path, 'runs'))
    const lease = await store.lease('held', 60_000)
    const dry = await collect('--ended', '0s', '--dry-run')
    expect(dry.stdout).toMatch(/^would remove run done\nwould remove run held\n/)
    // With what its log takes, which is not nothing.
    const { stdout, stderr } = await collect('--ended', '0s', '--grace', '1h')
    expect(stdout).toMatch(/^removed run done\nremoved \d+ checkpoints? and the logs of 1 run, [1-9]/)
    expect(stderr).toContain('held')
    await lease.release()
    await store.close()
    const list = await kept.caisson(['runs', '--store', 'runs'])
    expect(list.stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(['waiting', 'held', ''])
  })

  it.each<[string, readonly string[], RegExp]>([
    ['no store', ['collect'], /needs --store DIR/],
    ['an age without its unit', ['collect', '--store', 'runs', '--ended', '30'], /30s or 30ms/],
    ['a store that is not there', ['collect', '--store', 'nothing'], /no store of runs/],
  ])('is refused as usage: %s', async (_, args, message) => {
    const { code, stderr } = await kept.caisson(args)
    expect(code).toBe(2)
    expect(flat(stderr)).toMatch(message)
  })
})
