/** Programs that are parked as one file: whole, gone on with once, refused on any doubt. */
import { copyFileSync, existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { encodeCheckpoint } from '../../src/snapshot/container/encode-checkpoint.ts'
import { inspectCheckpoint } from '../../src/snapshot/container/inspect-checkpoint.ts'
import { PageTree } from '../../src/snapshot/page-tree.ts'
import { OBEYED, type RunJson } from './cli.testkit.ts'
import { BOUGHT, flat, type KeptFolder, openKeptFolder, RIGHTS } from './kept.testkit.ts'

let kept: KeptFolder
beforeEach(() => {
  kept = openKeptFolder()
})
afterEach(() => kept.remove())

describe('a program that is parked as one file', () => {
  it('is written whole, with the call that it waits for, and finishes from there', async () => {
    const parked = await kept.park(2)
    expect(parked.code).toBe(6)
    expect(parked.stdout).toBe('')
    expect(parked.stderr).toContain('call 2  shop.order')
    expect(parked.stderr).toContain('sku: "B-2", price: 5')
    expect(parked.stderr).not.toMatch(OBEYED)
    expect(flat(parked.stderr)).toContain(`caisson resume f ${RIGHTS.join(' ')}`)
    expect(kept.done()).toEqual(['price A-1'])
    expect(readdirSync(kept.path).filter((name) => name.includes('f.') || name === 'f')).toEqual([
      'f',
      'f.ledger',
    ])
    const finished = await kept.resume('f')
    expect(finished).toMatchObject({ code: 0, stdout: BOUGHT })
    expect(kept.done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })

  it('tells machines the same', async () => {
    const { json } = await kept.park(2, 'f', '--json')
    expect(json()).toMatchObject({
      status: 'suspended',
      value: null,
      pending: [
        { id: 2, capability: 'shop.order', args: { sku: 'B-2' }, digest: expect.stringMatching(/^sha256:/) },
      ],
      inDoubt: [],
      run: expect.stringMatching(/^shop-[a-z2-9]{6}$/),
      store: 'f.ledger',
      checkpointFile: 'f',
      checkpoint: expect.stringMatching(/^sha256:/),
      hint: expect.stringContaining('caisson resume f'),
    })
    expect((await kept.resume('f', '--json')).json()).toMatchObject({
      status: 'completed',
      value: [5, 'ordered B-2', 5],
    })
  })

  it('has the final state of one that was never parked', async () => {
    const fixed = ['--seed', '1', '--now', '2026-01-01T00:00:00Z', '--json']
    const straight = await kept.caisson(['run', 'shop.js', ...RIGHTS, ...fixed])
    await kept.park(2, 'f', ...fixed)
    const moved = await kept.resume('f', '--now', '2026-01-01T00:00:00Z', '--json')
    expect(moved.json().stateDigest).toBe(straight.json().stateDigest)
    expect(moved.json().usage.fuel).toBe(straight.json().usage.fuel)
  })

  it('can be parked again, and its file is then the newer one', async () => {
    await kept.park(1)
    const first = kept.read('f')
    copyFileSync(join(kept.path, 'f'), join(kept.path, 'older'))
    expect((await kept.resume('f', '--stop-at-call', '3')).code).toBe(6)
    expect(kept.read('f').equals(first)).toBe(false)
    expect(kept.done()).toEqual(['price A-1', 'order B-2'])
    copyFileSync(join(kept.path, 'f'), join(kept.path, 'newer'))
    copyFileSync(join(kept.path, 'older'), join(kept.path, 'f'))
    const older = await kept.resume('f')
    expect(older.code).toBe(7)
    expect(older.stderr).toContain('not the newest')
    copyFileSync(join(kept.path, 'newer'), join(kept.path, 'f'))
    expect(await kept.resume('f')).toMatchObject({ code: 0, stdout: BOUGHT })
    expect(kept.done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })

  it('is gone on with once', async () => {
    await kept.park(2)
    await kept.resume('f')
    const again = await kept.resume('f')
    expect(again).toMatchObject({ code: 7, stdout: '' })
    expect(flat(again.stderr)).toContain('was gone on from already')
    expect(kept.done()).toHaveLength(3)
  })

  it('is gone on with by one of two who try at once', async () => {
    await kept.park(2)
    const both = await Promise.all([kept.resume('f'), kept.resume('f')])
    expect(new Set(both.map(({ code }) => code))).toEqual(new Set([0, 7]))
    expect(kept.done()).toHaveLength(3)
  })

  it('never overwrites anything', async () => {
    await kept.park(2)
    const before = kept.read('f')
    const again = await kept.park(2)
    expect(again.code).toBe(2)
    expect(again.stderr).toContain('exists')
    expect(kept.read('f').equals(before)).toBe(true)
    writeFileSync(join(kept.path, 'note'), 'mine')
    expect((await kept.park(2, 'note')).code).toBe(2)
    expect(kept.read('note').toString()).toBe('mine')
    expect((await kept.park(2, 'missing/f')).code).toBe(2)
    expect(existsSync(join(kept.path, 'missing'))).toBe(false)
  })

  it('leaves nothing behind when it ends before that call, or does not begin', async () => {
    const ended = await kept.park(9)
    expect(ended).toMatchObject({ code: 0, stdout: BOUGHT })
    expect(ended.stderr).toContain('before call 9')
    expect((await kept.park(1, 'f', '--memory', '1KiB')).code).toBe(2)
    expect(readdirSync(kept.path).filter((name) => name.startsWith('f'))).toEqual([])
  })
})

describe('a file without its ledger', () => {
  beforeEach(async () => {
    await kept.park(2)
    renameSync(join(kept.path, 'f'), join(kept.path, 'alone'))
  })

  it('does nothing before somebody decides about calls in doubt', async () => {
    const { code, stderr, json } = await kept.resume('alone', '--json')
    expect(code).toBe(6)
    expect(json()).toMatchObject({ status: 'suspended', inDoubt: [2], pending: [{ id: 2 }] })
    expect(flat(stderr)).toContain('warning: beside alone there is no alone.ledger')
    expect(stderr).toContain('in doubt')
    expect(stderr).toContain('--confirm 2')
    expect(kept.done()).toEqual(['price A-1'])
  })

  it('does not even make the calls that can be repeated while others are undecided', async () => {
    const both = 'return await Promise.all([shop.price({ sku: "A-1" }), shop.order({ sku: "B-2" })])'
    writeFileSync(join(kept.path, 'shop.js'), both)
    await kept.park(2, 'both')
    renameSync(join(kept.path, 'both'), join(kept.path, 'lone'))
    const before = kept.done()
    const { code, json } = await kept.resume('lone', '--json')
    expect(code).toBe(6)
    expect(json()).toMatchObject({ inDoubt: [2], pending: [{ id: 1 }, { id: 2 }] })
    expect(kept.done()).toEqual(before)
    expect((await kept.resume('lone', '--confirm', '2')).code).toBe(0)
    expect(kept.done()).toHaveLength(before.length + 2)
  })

  it('makes a call again that somebody confirms, by id or by digest of what was asked', async () => {
    const { pending } = (await kept.resume('alone', '--json')).json() as RunJson & {
      pending: { digest: string }[]
    }
    const digest = pending[0]?.digest ?? ''
    const other = digest.replace(/.$/, digest.endsWith('0') ? '1' : '0')
    expect((await kept.resume('alone', '--confirm', other)).code).toBe(2)
    expect(await kept.resume('alone', '--confirm', digest)).toMatchObject({
      code: 0,
      stdout: BOUGHT,
    })
    expect((await kept.resume('alone', '--confirm', '2')).code).toBe(0)
    expect(kept.done().filter((line) => line.startsWith('order'))).toHaveLength(2)
  })

  it('takes an answer by hand, as the capability could have given it', async () => {
    expect(await kept.resume('alone', '--answer', '2="by hand"')).toMatchObject({
      code: 0,
      stdout: '[5, "by hand", 5]\n',
    })
    expect(kept.done().filter((line) => line.startsWith('order'))).toEqual([])
    const wrong = await kept.resume('alone', '--answer', '2=7')
    expect(wrong.code).toBe(7)
    expect(wrong.stderr).not.toMatch(/^\s+at /m)
  })

  it.each([
    [['--answer', '7=1']],
    [['--answer', 'x']],
    [['--answer', '2={']],
    [['--confirm', 'all']],
    [['--confirm', '2', '--answer', '2=1']],
    [['--stop-at-call', '3']],
    [['--add-fuel', '1']],
  ])('refuses %j', async (args) => {
    const { code, stderr } = await kept.resume('alone', ...args)
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: /m)
    expect(kept.done()).toEqual(['price A-1'])
  })
})

describe('what is refused with 7', () => {
  beforeEach(async () => {
    await kept.park(2)
  })

  it('is a file with any byte flipped, or cut', async () => {
    const bytes = kept.read('f')
    for (const at of [0, 9, 40, 100, bytes.length >> 1, bytes.length - 1]) {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      writeFileSync(join(kept.path, 'f'), flipped)
      const { code, stdout, stderr } = await kept.resume('f')
      expect({ code, stdout }).toEqual({ code: 7, stdout: '' })
      expect(stderr).toMatch(/^error: "f"(?:: The checkpoint is damaged| is no checkpoint file)/m)
      expect(stderr).toMatch(/next: /)
    }
    for (const length of [0, 1, 64, bytes.length - 1]) {
      writeFileSync(join(kept.path, 'f'), bytes.subarray(0, length))
      expect((await kept.resume('f')).code).toBe(7)
    }
    writeFileSync(join(kept.path, 'f'), bytes)
    expect((await kept.resume('f')).code).toBe(0)
  })

  it('is a missing or an added grant, by name', async () => {
    const missing = await kept.caisson(['resume', 'f', '--tools', 'tools.mjs', '--grant', 'shop.price'])
    expect(missing.code).toBe(7)
    expect(missing.stderr).toContain('Missing now: shop.order')
    const added = await kept.resume('f', '--grant', 'shop.fail')
    expect(added.code).toBe(7)
    expect(added.stderr).toContain('Not there then: shop.fail')
    expect(kept.done()).toEqual(['price A-1'])
  })

  it('is another engine, by name', async () => {
    const {
      id: _,
      fileBytes: __,
      stateBytes: ___,
      pages: ____,
      ...header
    } = await inspectCheckpoint(new Uint8Array(kept.read('f')), { ports: nodeCheckpointPorts })
    const pages = PageTree.empty
    const foreign = await encodeCheckpoint(
      {
        header: { ...header, engine: 'quickjs-0123456789abcdef', base: pages.root() },
        state: new Uint8Array(),
        pages,
      },
      { pages },
      { ports: nodeCheckpointPorts },
    )
    writeFileSync(join(kept.path, 'foreign'), foreign.bytes)
    const { code, stderr } = await kept.resume('foreign')
    expect(code).toBe(7)
    expect(stderr).toContain('quickjs-0123456789abcdef')
    expect(flat(stderr)).toContain('finish it with the version of caisson that has its engine')
  })

  it('is the file of another run beside a ledger', async () => {
    await kept.park(1, 'g')
    copyFileSync(join(kept.path, 'g'), join(kept.path, 'f'))
    const { code, stderr } = await kept.resume('f')
    expect(code).toBe(7)
    expect(flat(stderr)).toContain('the ledger beside it knows nothing')
  })

  it('is a damaged ledger', async () => {
    const logs = readdirSync(join(kept.path, 'f.ledger/runs'), { recursive: true })
      .map(String)
      .filter((name) => /\blog-[0-9a-f]+$/.test(name))
    expect(logs).toHaveLength(1)
    const name = join('f.ledger/runs', logs[0] ?? '')
    const bytes = kept.read(name)
    for (const at of [5, bytes.length >> 1, bytes.length - 2]) {
      const broken = Buffer.from(bytes)
      broken[at] = (broken[at] ?? 0) ^ 0x55
      writeFileSync(join(kept.path, name), broken)
      const { code, stdout, stderr } = await kept.resume('f')
      expect({ code, stdout, at }).toEqual({ code: 7, stdout: '', at })
      expect(stderr).not.toMatch(/^\s+at /m)
    }
    expect(kept.done()).toEqual(['price A-1'])
  })
})
