/** Runs that are kept by the command line: parked, gone on with, refused, looked at. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { encodeCheckpoint } from '../../src/snapshot/container/encode-checkpoint.ts'
import { inspectCheckpoint } from '../../src/snapshot/container/inspect-checkpoint.ts'
import { PageTree } from '../../src/snapshot/page-tree.ts'
import { cli, type Ended, type Folder, keptTools, makeFolder, OBEYED, type RunJson } from './cli.testkit.ts'

const SHOP = `
console.log('begun')
const { price } = await shop.price({ sku: 'A-1' })
const order = await shop.order({ sku: 'B-2', price, note: '\\x1b[2J' })
const last = await shop.price({ sku: 'C-3' })
return [price, order, last.price]
`
const RIGHTS = ['--tools', 'tools.mjs', '--grant', 'shop.price', '--grant', 'shop.order']
const KEYS = {
  mac: { id: 'm1', key: '11'.repeat(32) },
  encryption: { id: 'e1', key: '22'.repeat(32) },
}

let folder: Folder
beforeEach(() => {
  folder = makeFolder({
    'shop.js': SHOP,
    'spend.js': 'await shop.price({}); for (let i = 0; i < 1e5; i++); return "done"',
    'tools.mjs': keptTools('sources'),
    'keys.json': JSON.stringify(KEYS),
  })
  chmodSync(join(folder.path, 'keys.json'), 0o600)
})
afterEach(() => folder.remove())

const caisson = (args: readonly string[], setting: object = {}): Promise<Ended> =>
  cli(args, { cwd: folder.path, ...setting })
const park = (call: number, file = 'f', ...more: string[]): Promise<Ended> =>
  caisson(['run', 'shop.js', ...RIGHTS, '--stop-at-call', String(call), '--checkpoint', file, ...more])
const resume = (...args: string[]): Promise<Ended> => caisson(['resume', ...args, ...RIGHTS])
/** What the tools did, one line a call. */
const done = (): readonly string[] => {
  const path = join(folder.path, 'done.log')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}
const read = (name: string): Buffer => readFileSync(join(folder.path, name))
const flat = (text: string): string => text.replace(/\s+/g, ' ')

describe('a program that is parked as one file', () => {
  it('is written whole, with the call that it waits for, and finishes from there', async () => {
    const parked = await park(2)
    expect(parked.code).toBe(6)
    expect(parked.stdout).toBe('')
    expect(parked.stderr).toContain('call 2  shop.order')
    expect(parked.stderr).toContain('sku: "B-2", price: 5')
    expect(parked.stderr).not.toMatch(OBEYED)
    expect(flat(parked.stderr)).toContain(`caisson resume f ${RIGHTS.join(' ')}`)
    expect(done()).toEqual(['price A-1'])
    expect(readdirSync(folder.path).filter((name) => name.includes('f.') || name === 'f')).toEqual([
      'f',
      'f.ledger',
    ])
    const finished = await resume('f')
    expect(finished).toMatchObject({ code: 0, stdout: '[5, "ordered B-2", 5]\n' })
    expect(done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })

  it('tells machines the same', async () => {
    const { json } = await park(2, 'f', '--json')
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
    expect((await resume('f', '--json')).json()).toMatchObject({
      status: 'completed',
      value: [5, 'ordered B-2', 5],
    })
  })

  it('has the final state of one that was never parked', async () => {
    const fixed = ['--seed', '1', '--now', '2026-01-01T00:00:00Z', '--json']
    const straight = await caisson(['run', 'shop.js', ...RIGHTS, ...fixed])
    await park(2, 'f', ...fixed)
    const moved = await resume('f', '--now', '2026-01-01T00:00:00Z', '--json')
    expect(moved.json().stateDigest).toBe(straight.json().stateDigest)
    expect(moved.json().usage.fuel).toBe(straight.json().usage.fuel)
  })

  it('can be parked again, and its file is then the newer one', async () => {
    await park(1)
    const first = read('f')
    copyFileSync(join(folder.path, 'f'), join(folder.path, 'older'))
    expect((await resume('f', '--stop-at-call', '3')).code).toBe(6)
    expect(read('f').equals(first)).toBe(false)
    expect(done()).toEqual(['price A-1', 'order B-2'])
    copyFileSync(join(folder.path, 'f'), join(folder.path, 'newer'))
    copyFileSync(join(folder.path, 'older'), join(folder.path, 'f'))
    const older = await resume('f')
    expect(older.code).toBe(7)
    expect(older.stderr).toContain('not the newest')
    copyFileSync(join(folder.path, 'newer'), join(folder.path, 'f'))
    expect(await resume('f')).toMatchObject({ code: 0, stdout: '[5, "ordered B-2", 5]\n' })
    expect(done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })

  it('is gone on with once', async () => {
    await park(2)
    await resume('f')
    const again = await resume('f')
    expect(again).toMatchObject({ code: 7, stdout: '' })
    expect(flat(again.stderr)).toContain('was gone on from already')
    expect(done()).toHaveLength(3)
  })

  it('is gone on with by one of two who try at once', async () => {
    await park(2)
    const both = await Promise.all([resume('f'), resume('f')])
    expect(new Set(both.map(({ code }) => code))).toEqual(new Set([0, 7]))
    expect(done()).toHaveLength(3)
  })

  it('never overwrites anything', async () => {
    await park(2)
    const before = read('f')
    const again = await park(2)
    expect(again.code).toBe(2)
    expect(again.stderr).toContain('exists')
    expect(read('f').equals(before)).toBe(true)
    writeFileSync(join(folder.path, 'note'), 'mine')
    expect((await park(2, 'note')).code).toBe(2)
    expect(read('note').toString()).toBe('mine')
    expect((await park(2, 'missing/f')).code).toBe(2)
    expect(existsSync(join(folder.path, 'missing'))).toBe(false)
  })

  it('leaves nothing behind when it ends before that call, or does not begin', async () => {
    const ended = await park(9)
    expect(ended).toMatchObject({ code: 0, stdout: '[5, "ordered B-2", 5]\n' })
    expect(ended.stderr).toContain('before call 9')
    expect((await park(1, 'f', '--memory', '1KiB')).code).toBe(2)
    expect(readdirSync(folder.path).filter((name) => name.startsWith('f'))).toEqual([])
  })
})

describe('a file without its ledger', () => {
  beforeEach(async () => {
    await park(2)
    renameSync(join(folder.path, 'f'), join(folder.path, 'alone'))
  })

  it('does nothing before somebody decides about calls in doubt', async () => {
    const { code, stderr, json } = await resume('alone', '--json')
    expect(code).toBe(6)
    expect(json()).toMatchObject({ status: 'suspended', inDoubt: [2], pending: [{ id: 2 }] })
    expect(flat(stderr)).toContain('warning: beside alone there is no alone.ledger')
    expect(stderr).toContain('in doubt')
    expect(stderr).toContain('--confirm 2')
    expect(done()).toEqual(['price A-1'])
  })

  it('does not even make the calls that can be repeated while others are undecided', async () => {
    const both = 'return await Promise.all([shop.price({ sku: "A-1" }), shop.order({ sku: "B-2" })])'
    writeFileSync(join(folder.path, 'shop.js'), both)
    await park(2, 'both')
    renameSync(join(folder.path, 'both'), join(folder.path, 'lone'))
    const before = done()
    const { code, json } = await resume('lone', '--json')
    expect(code).toBe(6)
    expect(json()).toMatchObject({ inDoubt: [2], pending: [{ id: 1 }, { id: 2 }] })
    expect(done()).toEqual(before)
    expect((await resume('lone', '--confirm', '2')).code).toBe(0)
    expect(done()).toHaveLength(before.length + 2)
  })

  it('makes a call again that somebody confirms, by id or by digest of what was asked', async () => {
    const { pending } = (await resume('alone', '--json')).json() as RunJson & {
      pending: { digest: string }[]
    }
    const digest = pending[0]?.digest ?? ''
    const other = digest.replace(/.$/, digest.endsWith('0') ? '1' : '0')
    expect((await resume('alone', '--confirm', other)).code).toBe(2)
    expect(await resume('alone', '--confirm', digest)).toMatchObject({
      code: 0,
      stdout: '[5, "ordered B-2", 5]\n',
    })
    expect((await resume('alone', '--confirm', '2')).code).toBe(0)
    expect(done().filter((line) => line.startsWith('order'))).toHaveLength(2)
  })

  it('takes an answer by hand, as the capability could have given it', async () => {
    expect(await resume('alone', '--answer', '2="by hand"')).toMatchObject({
      code: 0,
      stdout: '[5, "by hand", 5]\n',
    })
    expect(done().filter((line) => line.startsWith('order'))).toEqual([])
    const wrong = await resume('alone', '--answer', '2=7')
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
    const { code, stderr } = await resume('alone', ...args)
    expect(code).toBe(2)
    expect(stderr).toMatch(/^error: /m)
    expect(done()).toEqual(['price A-1'])
  })
})

describe('what is refused with 7', () => {
  beforeEach(async () => {
    await park(2)
  })

  it('is a file with any byte flipped, or cut', async () => {
    const bytes = read('f')
    for (const at of [0, 9, 40, 100, bytes.length >> 1, bytes.length - 1]) {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      writeFileSync(join(folder.path, 'f'), flipped)
      const { code, stdout, stderr } = await resume('f')
      expect({ code, stdout }).toEqual({ code: 7, stdout: '' })
      expect(stderr).toMatch(/^error: "f": The checkpoint is damaged/m)
      expect(stderr).toMatch(/next: /)
    }
    for (const length of [0, 1, 64, bytes.length - 1]) {
      writeFileSync(join(folder.path, 'f'), bytes.subarray(0, length))
      expect((await resume('f')).code).toBe(7)
    }
    writeFileSync(join(folder.path, 'f'), bytes)
    expect((await resume('f')).code).toBe(0)
  })

  it('is a missing or an added grant, by name', async () => {
    const missing = await caisson(['resume', 'f', '--tools', 'tools.mjs', '--grant', 'shop.price'])
    expect(missing.code).toBe(7)
    expect(missing.stderr).toContain('Missing now: shop.order')
    const added = await resume('f', '--grant', 'shop.fail')
    expect(added.code).toBe(7)
    expect(added.stderr).toContain('Not there then: shop.fail')
    expect(done()).toEqual(['price A-1'])
  })

  it('is another engine, by name', async () => {
    const {
      id: _,
      fileBytes: __,
      stateBytes: ___,
      pages: ____,
      ...header
    } = await inspectCheckpoint(new Uint8Array(read('f')), { ports: nodeCheckpointPorts })
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
    writeFileSync(join(folder.path, 'foreign'), foreign.bytes)
    const { code, stderr } = await resume('foreign')
    expect(code).toBe(7)
    expect(stderr).toContain('quickjs-0123456789abcdef')
    expect(flat(stderr)).toContain('Finish the run with the version of caisson that has that engine')
  })

  it('is the file of another run beside a ledger', async () => {
    await park(1, 'g')
    copyFileSync(join(folder.path, 'g'), join(folder.path, 'f'))
    const { code, stderr } = await resume('f')
    expect(code).toBe(7)
    expect(flat(stderr)).toContain('the ledger beside it knows nothing')
  })

  it('is a damaged ledger', async () => {
    const logs = readdirSync(join(folder.path, 'f.ledger/runs'), { recursive: true })
      .map(String)
      .filter((name) => /\blog-[0-9a-f]+$/.test(name))
    expect(logs).toHaveLength(1)
    const name = join('f.ledger/runs', logs[0] ?? '')
    const bytes = read(name)
    for (const at of [5, bytes.length >> 1, bytes.length - 2]) {
      const broken = Buffer.from(bytes)
      broken[at] = (broken[at] ?? 0) ^ 0x55
      writeFileSync(join(folder.path, name), broken)
      const { code, stdout, stderr } = await resume('f')
      expect({ code, stdout, at }).toEqual({ code: 7, stdout: '', at })
      expect(stderr).not.toMatch(/^\s+at /m)
    }
    expect(done()).toEqual(['price A-1'])
  })
})

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
    const { code, stderr } = await caisson(args)
    expect(code).toBe(2)
    expect(flat(stderr)).toMatch(message)
    expect(stderr).toMatch(/next: /)
    expect(readdirSync(folder.path).sort()).toEqual(['keys.json', 'shop.js', 'spend.js', 'tools.mjs'])
  })

  it('is writing where the run is kept', async () => {
    const { code, stderr } = await caisson(['run', 'shop.js', '--store', 's/runs', '--allow-write', '.'])
    expect(code).toBe(2)
    expect(stderr).toContain('overlaps the protected path')
  })
})

describe('a run in a store', () => {
  const run = (...args: string[]): Promise<Ended> =>
    caisson(['run', 'shop.js', '--store', 'runs', ...RIGHTS, ...args])

  it('says its name, and gives its outcome again when asked', async () => {
    const first = await run()
    const name = /^run: (shop-[a-z2-9]{6}) in runs$/m.exec(first.stderr)?.[1] ?? ''
    expect(first).toMatchObject({ code: 0, stdout: '[5, "ordered B-2", 5]\n' })
    expect(await resume(name, '--store', 'runs')).toMatchObject({ code: 0, stdout: first.stdout })
    expect(done()).toHaveLength(3)
    const taken = await run('--run', name)
    expect(taken.code).toBe(2)
    expect(taken.stderr).toContain('There is a run')
    expect((await resume('other', '--store', 'runs')).code).toBe(2)
  })

  it('is parked before a call, and goes on', async () => {
    expect((await run('--run', 'r', '--stop-at-call', '2')).code).toBe(6)
    expect((await resume('r', '--store', 'runs', '--stop-at-call', '3')).code).toBe(6)
    expect(await resume('r', '--store', 'runs')).toMatchObject({ code: 0 })
    expect(done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })

  it('goes on with more fuel after it ran out, and with no more without', async () => {
    const rights = ['--tools', 'tools.mjs', '--grant', 'shop.price']
    const spent = await caisson([
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
    expect((await caisson(['resume', 'r', '--store', 'runs', ...rights])).code).toBe(4)
    expect(await caisson(['resume', 'r', '--store', 'runs', ...rights, '--add-fuel', '1e9'])).toMatchObject({
      code: 0,
      stdout: 'done\n',
    })
    expect(done()).toHaveLength(1)
  })

  it('goes on after Ctrl-C', async () => {
    writeFileSync(join(folder.path, 'hang'), '')
    const stopped = await caisson(['run', 'shop.js', '--store', 'runs', '--run', 'r', ...RIGHTS], {
      interruptAfterMs: 3_000,
    })
    expect(stopped.code).toBe(130)
    expect(stopped.stderr).toContain('caisson resume r --store runs')
    const doubtful = await resume('r', '--store', 'runs', '--json')
    expect(doubtful).toMatchObject({ code: 6 })
    expect(doubtful.json()).toMatchObject({ inDoubt: [2] })
    expect(await resume('r', '--store', 'runs', '--answer', '2="ordered"')).toMatchObject({
      code: 0,
      stdout: '[5, "ordered", 5]\n',
    })
    expect(done()).toEqual(['price A-1', 'order B-2', 'price C-3'])
  })
})

describe('keys', () => {
  const keyed = ['--key-file', 'keys.json']

  it('protect what is kept: it is unreadable, and refused without them', async () => {
    const parked = await park(2, 'f', '--secret', ...keyed)
    expect(parked.code).toBe(6)
    const kept = [
      read('f'),
      ...readdirSync(join(folder.path, 'f.ledger'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name))),
    ]
    for (const bytes of kept) expect(bytes.includes('B-2')).toBe(false)
    const without = await resume('f')
    expect(without.code).toBe(7)
    expect(flat(without.stderr)).toContain('--key-file')
    expect((await caisson(['show', 'f'])).code).toBe(7)
    const shown = await caisson(['show', 'f', ...keyed])
    expect(shown.stdout).toContain('somebody who has the key "m1"')
    expect(shown.stdout).not.toContain('B-2')
    const finished = await resume('f', ...keyed)
    expect(finished).toMatchObject({ code: 0, stdout: '[5, "ordered B-2", 5]\n' })
    const said = [parked, without, shown, finished].map(({ stdout, stderr }) => stdout + stderr).join('')
    expect(said).not.toMatch(/(?:11|22){8}/)
  })

  it('refuse what was not written with them', async () => {
    await park(2)
    const { code, stderr } = await resume('f', ...keyed)
    expect(code).toBe(7)
    expect(flat(stderr)).toContain('not authenticated')
  })

  it.runIf(process.platform !== 'win32')('are refused in a file that others may read', async () => {
    chmodSync(join(folder.path, 'keys.json'), 0o644)
    const { code, stderr } = await park(2, 'f', ...keyed)
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
    writeFileSync(join(folder.path, 'keys.json'), text)
    const { code, stderr } = await park(2, 'f', ...keyed)
    expect(code).toBe(7)
    expect(stderr).not.toContain('1111')
  })
})

describe('looking', () => {
  beforeEach(async () => {
    await park(2)
    for (const [name, call] of [
      ['r1', '1'],
      ['r2', '2'],
      ['r3', '9'],
    ] as const) {
      await caisson(['run', 'shop.js', ...RIGHTS, '--store', 'runs', '--run', name, '--stop-at-call', call])
    }
  })

  it('at all runs: a line for each in a pipe, a document, a table', async () => {
    const { stdout } = await caisson(['runs', '--store', 'runs'])
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
    const { json } = await caisson(['runs', '--store', 'runs', '--json'])
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
      const table = await caisson(['runs', '--store', 'runs'], { columns })
      expect(table.stdout).toContain('shop.order')
      expect(table.stdout).not.toMatch(OBEYED)
      for (const line of table.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
    }
  })

  it('at one: what is known, and that nothing of a file is believed', async () => {
    const file = await caisson(['show', 'f'])
    expect(file.code).toBe(0)
    expect(flat(file.stdout)).toContain('nothing of what it says is verified')
    expect(file.stdout).toContain('newest checkpoint of its run')
    expect(file.stdout).toContain('shop.order')
    expect(file.stdout).not.toMatch(OBEYED)
    const { json } = await caisson(['show', 'r2', '--store', 'runs', '--json'])
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
    await resume('f')
    expect((await caisson(['show', 'f'])).stdout).toContain('it will be refused')
    expect(done().length).toBeGreaterThan(0)
  })

  it('at engines: which of them parked programs need', async () => {
    const { json } = await caisson(['doctor', '--store', 'runs', '--json'])
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
})
