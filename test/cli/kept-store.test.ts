/** Runs in a store: gone on with, looked at, protected by keys. */
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { openDirectoryRunStore } from '../../src/entry/bindings.node.ts'
import { DEFAULT_LIMITS } from '../../src/machine/limits.ts'
import { encodeCheckpoint } from '../../src/snapshot/container/encode-checkpoint.ts'
import { PageTree } from '../../src/snapshot/page-tree.ts'
import { EntryCodec } from '../../src/snapshot/run-log/entry-codec.ts'
import type { RunEntry } from '../../src/snapshot/run-log/run-entry.ts'
import { type Ended, OBEYED } from './cli.testkit.ts'
import { BOUGHT, flat, KEYS, type KeptFolder, openKeptFolder, RIGHTS } from './kept.testkit.ts'

let kept: KeptFolder
beforeEach(() => {
  kept = openKeptFolder()
})
afterEach(() => kept.remove())

describe('what is refused as usage', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['a checkpoint of nothing', ['run', 'shop.js', '--checkpoint', 'f'], /--stop-at-call N/],
    ['parking nowhere', ['run', 'shop.js', '--stop-at-call', '1'], /--store DIR, or/],
    [
      'two places',
      ['run', 'shop.js', '--store', 's', '--stop-at-call', '1', '--checkpoint', 'f'],
      /one of them/,
    ],
    ['call 0', ['run', 'shop.js', '--store', 's', '--stop-at-call', '0'], /from 1/],
    ['a bad name', ['run', 'shop.js', '--store', 's', '--run', '../x'], /cannot be the name/],
    ['a folder of something else', ['run', 'shop.js', '--store', '.'], /something else than a store/],
    ['secrets without a key', ['run', 'shop.js', '--store', 's', '--secret'], /--key-file FILE/],
    ['a file that is not there', ['resume', 'nothing.ckpt'], /no file "nothing.ckpt"/],
    ['a store that is not there', ['resume', 'r', '--store', 'nothing'], /no store of runs/],
    ['no store', ['runs'], /needs --store DIR/],
    ['a store that is not there, for looking', ['runs', '--store', 'nothing'], /no store of runs/],
    ['nothing to show', ['show', 'nothing'], /no file "nothing"/],
  ])('is %s', async (_, args, message) => {
    const { code, stderr } = await kept.caisson(args)
    expect(code).toBe(2)
    expect(flat(stderr)).toMatch(message)
    expect(stderr).toMatch(/next: /)
    expect(readdirSync(kept.path).sort()).toEqual(['keys.json', 'shop.js', 'spend.js', 'tools.mjs'])
  })

  it('is writing where the run is kept', async () => {
    const { code, stderr } = await kept.caisson(['run', 'shop.js', '--store', 's/runs', '--allow-write', '.'])
    expect(code).toBe(2)
    expect(stderr).toContain('overlaps the protected path')
  })
})

describe('a run in a store', () => {
  const run = (...args: string[]): Promise<Ended> =>
    kept.caisson(['run', 'shop.js', '--store', 'runs', ...RIGHTS, ...args])

  it('says its name, and gives its outcome again when asked', async () => {
    const first = await run()
    const name = /^run: (shop-[a-z2-9]{6}) in runs$/m.exec(first.stderr)?.[1] ?? ''
    expect(first).toMatchObject({ code: 0, stdout: BOUGHT })
    expect(await kept.resume(name, '--store', 'runs')).toMatchObject({ code: 0, stdout: first.stdout })
    expect(kept.done()).toHaveLength(3)
    const taken = await run('--run', name)
    expect(taken.code).toBe(2)
    expect(taken.stderr).toContain('There is a run')
    expect((await kept.resume('other', '--store', 'runs')).code).toBe(2)
  })

  it('is parked before a call, and goes on', async () => {
    expect((await run('--run', 'r', '--stop-at-call', '2')).code).toBe(6)
    expect((await kept.resume('r', '--store', 'runs', '--stop-at-call', '3')).code).toBe(6)
    expect(await kept.resume('r', '--store', 'runs')).toMatchObject({ code: 0 })
    expect(kept.done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })

  it('goes on with more fuel after it ran out, and with no more without', async () => {
    const rights = ['--tools', 'tools.mjs', '--grant', 'shop.price']
    const spent = await kept.caisson([
      'run',
      'spend.js',
      '--store',
      'runs',
      '--run',
      'r',
      '--fuel',
      '2e6',
      ...rights,
    ])
    expect(spent.code).toBe(4)
    expect(flat(spent.stderr)).toContain(
      'caisson resume r --store runs --tools tools.mjs --grant shop.price --add-fuel',
    )
    expect((await kept.caisson(['resume', 'r', '--store', 'runs', ...rights])).code).toBe(4)
    expect(
      await kept.caisson(['resume', 'r', '--store', 'runs', ...rights, '--add-fuel', '1e9']),
    ).toMatchObject({
      code: 0,
      stdout: 'done\n',
    })
    expect(kept.done()).toHaveLength(1)
  })

  it('goes on after Ctrl-C', async () => {
    writeFileSync(join(kept.path, 'hang'), '')
    const stopped = await kept.caisson(['run', 'shop.js', '--store', 'runs', '--run', 'r', ...RIGHTS], {
      interruptWhen: () => kept.done().includes('order B-2'),
    })
    expect(stopped.code).toBe(130)
    expect(stopped.stderr).toContain('caisson resume r --store runs')
    const doubtful = await kept.resume('r', '--store', 'runs', '--json')
    expect(doubtful).toMatchObject({ code: 6 })
    expect(doubtful.json()).toMatchObject({ inDoubt: [2] })
    expect(await kept.resume('r', '--store', 'runs', '--answer', '2="ordered"')).toMatchObject({
      code: 0,
      stdout: '[5, "ordered", 5]\n',
    })
    expect(kept.done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })
})

describe('keys', () => {
  const keyed = ['--key-file', 'keys.json']

  it('protect what is kept: it is unreadable, and refused without them', async () => {
    const parked = await kept.park(2, 'f', '--secret', ...keyed)
    expect(parked.code).toBe(6)
    const written = [
      kept.read('f'),
      ...readdirSync(join(kept.path, 'f.ledger'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name))),
    ]
    for (const bytes of written) expect(bytes.includes('B-2')).toBe(false)
    const without = await kept.resume('f')
    expect(without.code).toBe(7)
    expect(flat(without.stderr)).toContain('--key-file')
    expect((await kept.caisson(['show', 'f'])).code).toBe(7)
    const shown = await kept.caisson(['show', 'f', ...keyed])
    expect(shown.stdout).toContain('somebody who has the key "m1"')
    expect(shown.stdout).not.toContain('B-2')
    const finished = await kept.resume('f', ...keyed)
    expect(finished).toMatchObject({ code: 0, stdout: BOUGHT })
    const said = [parked, without, shown, finished].map(({ stdout, stderr }) => stdout + stderr).join('')
    expect(said).not.toMatch(/(?:11|22){8}/)
  })

  it('refuse what was not written with them', async () => {
    await kept.park(2)
    const { code, stderr } = await kept.resume('f', ...keyed)
    expect(code).toBe(7)
    expect(flat(stderr)).toContain('not authenticated')
  })

  it.runIf(process.platform !== 'win32')('are refused in a file that others may read', async () => {
    chmodSync(join(kept.path, 'keys.json'), 0o644)
    const { code, stderr } = await kept.park(2, 'f', ...keyed)
    expect(code).toBe(7)
    expect(stderr).toContain('chmod 600 keys.json')
  })

  it.each([
    ['no JSON', '11'.repeat(32)],
    ['nothing', '{}'],
    ['a short key', '{"mac": {"id": "m", "key": "1111"}}'],
    ['something else', `{"mac": {"id": "m", "key": "${'11'.repeat(32)}", "note": 1}}`],
    [
      'one key for two purposes',
      JSON.stringify({ mac: KEYS.mac, encryption: { id: 'e', key: KEYS.mac.key } }),
    ],
    ['a list', '[]'],
  ])('are refused as %s, and not repeated', async (_, text) => {
    writeFileSync(join(kept.path, 'keys.json'), text)
    const { code, stderr } = await kept.park(2, 'f', ...keyed)
    expect(code).toBe(7)
    expect(stderr).not.toContain('1111')
  })
})

describe('looking', () => {
  beforeEach(async () => {
    await kept.park(2)
    for (const [name, call] of [
      ['r1', '1'],
      ['r2', '2'],
      ['r3', '9'],
    ] as const) {
      await kept.caisson([
        'run',
        'shop.js',
        ...RIGHTS,
        '--store',
        'runs',
        '--run',
        name,
        '--stop-at-call',
        call,
      ])
    }
  })

  it('at all runs: a line for each in a pipe, a document, a table', async () => {
    const { stdout } = await kept.caisson(['runs', '--store', 'runs'])
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
    expect(rows.map(([run, status]) => `${run} ${status}`)).toEqual([
      'r3 completed',
      'r2 waiting',
      'r1 waiting',
    ])
    expect(rows[1]?.[4]).toContain('call 2 shop.order {"sku":"B-2"')
    const { json } = await kept.caisson(['runs', '--store', 'runs', '--json'])
    expect(json()).toMatchObject({
      runs: [
        { run: 'r3', status: 'completed', pending: [] },
        {
          run: 'r2',
          status: 'waiting',
          pending: [{ id: 2, capability: 'shop.order' }],
          checkpoints: 1,
          missing: 0,
        },
        { run: 'r1', status: 'waiting' },
      ],
    })
    for (const columns of [40, 60, 120]) {
      const table = await kept.caisson(['runs', '--store', 'runs'], { columns })
      expect(table.stdout).toContain('shop.order')
      expect(table.stdout).not.toMatch(OBEYED)
      for (const line of table.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
    }
  })

  it('at one: what is known, and that nothing of a file is believed', async () => {
    const file = await kept.caisson(['show', 'f'])
    expect(file.code).toBe(0)
    expect(flat(file.stdout)).toContain('nothing of what it says is verified')
    expect(file.stdout).toContain('newest checkpoint of its run')
    expect(file.stdout).toContain('shop.order')
    expect(file.stdout).not.toMatch(OBEYED)
    const { json } = await kept.caisson(['show', 'r2', '--store', 'runs', '--json'])
    expect(json()).toMatchObject({
      file: null,
      run: {
        run: 'r2',
        status: 'waiting',
        chain: [{ links: 0 }],
        pending: [{ id: 2 }],
        unanswered: [],
        start: { fileName: 'shop.js' },
      },
    })
    await kept.resume('f')
    expect((await kept.caisson(['show', 'f'])).stdout).toContain('it will be refused')
    expect(kept.done().length).toBeGreaterThan(0)
  })

  it('at engines: which of them parked programs need', async () => {
    const { json } = await kept.caisson(['doctor', '--store', 'runs', '--json'])
    const { checks, engine } = json() as unknown as {
      checks: { name: string; status: string; detail: string }[]
      engine: { id: string }
    }
    expect(checks.find(({ name }) => name.startsWith('parked'))).toMatchObject({
      name: `parked on ${engine.id}`,
      status: 'ok',
      detail: expect.stringContaining('r1, r2'),
    })
  })

  it('at what somebody else wrote into the store: refused, or shown and not obeyed', async () => {
    const evil = '\x1b[2J\nerror: fake'
    const store = await openDirectoryRunStore(join(kept.path, 'runs'))
    const begin = async (run: string, entries: readonly object[]): Promise<void> => {
      const codec = new EntryCodec({ ports: nodeCheckpointPorts })
      const sealed: Uint8Array[] = []
      for (const [at, entry] of entries.entries()) {
        sealed.push(await codec.seal(entry as RunEntry, { tenant: 'default', run, at }))
      }
      await store.append(run, 0, sealed, await store.lease(run, 60_000))
    }
    const start = {
      type: 'start',
      version: 1,
      guestId: 'g',
      tenant: 'default',
      form: 'auto',
      seed: new Uint8Array(32),
      input: evil,
      source: evil,
      fileName: evil,
      engine: evil,
      principal: evil,
      label: 'plain',
      limits: DEFAULT_LIMITS,
      nowMs: 0,
      capabilities: [{ name: evil, sync: false }],
    }
    const intent = {
      type: 'intent',
      id: 1,
      capability: evil,
      effect: 'write',
      idempotencyKey: evil,
      askedAtMs: 0,
      args: { [evil]: evil },
    }
    await begin('shown', [start, intent])
    await begin('refused-1', [{ ...start, capabilities: 'all' }])
    await begin('refused-2', [{ ...start, limits: { fuel: 'much' } }])
    await begin('refused-3', [intent])
    await store.close()
    const { code, stdout, stderr } = await kept.caisson(['show', 'shown', '--store', 'runs'], { columns: 60 })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).not.toMatch(OBEYED)
    expect(stdout).not.toMatch(/^error: fake/m)
    for (const name of ['refused-1', 'refused-2', 'refused-3']) {
      expect((await kept.caisson(['show', name, '--store', 'runs'])).code).toBe(7)
      expect((await kept.resume(name, '--store', 'runs')).code).toBe(7)
    }
    const list = await kept.caisson(['runs', '--store', 'runs'])
    expect(list.code).toBe(0)
    expect(list.stdout).toMatch(/^shown\tunreadable\t/m)
  })

  it('at engines that are not here, with the way forward', async () => {
    const store = await openDirectoryRunStore(join(kept.path, 'runs'))
    const pages = PageTree.empty
    const header = {
      engine: 'quickjs-0123456789abcdef',
      base: pages.root(),
      tenant: 'default',
      run: 'old',
      principal: '',
      sequence: 1,
      links: 0,
      label: 'plain',
      takenAtMs: 0,
      memoryBytes: 65_536,
    } as const
    const { id, bytes } = await encodeCheckpoint(
      { header, state: new Uint8Array(), pages },
      { pages },
      { ports: nodeCheckpointPorts },
    )
    await store.putBlob(id, bytes)
    const lease = await store.lease('old', 1_000)
    const summary = new TextEncoder().encode('{"status":"waiting"}')
    await store.setHead('old', { version: 1, chain: [id], position: 0, summary }, lease)
    await store.close()
    const { code, stdout } = await kept.caisson(['doctor', '--store', 'runs'], { columns: 60 })
    expect(code).toBe(0)
    expect(flat(stdout)).toContain('parked on quickjs-0123456789abcdef: old; this engine is not at hand')
    expect(flat(stdout)).toContain('caisson resume RUN --store runs --reexecute')
    expect(stdout.split('\n').filter((line) => line.length > 60)).toEqual([])
  })
})
