/** `caisson run` in this process: what goes in, what comes out, what is refused. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, type Ended, type Folder, makeFolder, OBEYED, type Setting, toolsModule } from './cli.testkit.ts'

let folder: Folder
beforeAll(() => {
  folder = makeFolder({
    'p.js': 'return 6 * 7',
    'input.js': 'return input',
    'typed.ts': 'enum Unit { Kg = 1000 }\nconst weight: number = 2\nreturn weight * Unit.Kg',
    'typed wrong.mts': 'const weight: number = 2\nnamespace N { export const a = 1 }',
    'call.js': 'return await prices.lookup({ sku: 1 })',
    'data.json': '{"n": 5}',
    'bad.json': '[1,\n 2 3]',
    'binary.js': Uint8Array.from([0xff, 0xfe, 0x00]),
    'nul.js': 'return "\0"',
    'large.js': new Uint8Array(8 * 1024 * 1024 + 1).fill(0x20),
    'tools.mjs': toolsModule('sources'),
    'throws.mjs': 'throw new Error("broken at start")',
    'no-list.mjs': 'export default { name: "a" }',
    'no-default.mjs': 'export const a = 1',
    'bad-capability.mjs': 'export default [{ name: "Bad Name" }]',
  })
  for (const name of ['data', 'out', 'other', 'other/data']) mkdirSync(join(folder.path, name))
  writeFileSync(join(folder.path, 'data/x.txt'), 'X')
})
afterAll(() => folder.remove())

const run = (args: readonly string[], setting: Partial<Setting> = {}): Promise<Ended> =>
  cli(['run', ...args], { cwd: folder.path, ...setting })
/** Runs a program that comes from standard input. */
const runSource = (
  source: string,
  args: readonly string[] = [],
  setting: Partial<Setting> = {},
): Promise<Ended> => run(['-', ...args], { stdin: source, ...setting })

describe('what a run prints', () => {
  it('is the value on stdout and nothing else', async () => {
    for (const anyThread of [true, false]) {
      expect(await run(['p.js'], { anyThread })).toMatchObject({ code: 0, stdout: '42\n', stderr: '' })
    }
    expect(await runSource('return "text"')).toMatchObject({ code: 0, stdout: 'text\n' })
    expect(await runSource('return undefined')).toMatchObject({ code: 0, stdout: '' })
  })

  it('is exactly one JSON document with --json, in fields that are always there', async () => {
    const { code, stdout, json } = await run(['p.js', '--json'])
    expect(code).toBe(0)
    expect(stdout.split('\n')).toEqual([expect.any(String), ''])
    expect(json()).toMatchObject({
      status: 'completed',
      limit: null,
      value: 42,
      error: null,
      usage: {
        fuel: expect.any(Number),
        memoryBytes: expect.any(Number),
        wallMs: expect.any(Number),
        calls: 0,
      },
      logs: [],
      pending: [],
      stateDigest: expect.stringMatching(/^sha256:/),
      engine: expect.any(String),
    })
  })

  it.each([
    ['two words', `--input '"two words"'`],
    ['{n: 1}', `--input '{"n": 1}'`],
  ])('says of the input %s how it is quoted', async (input, quoted) => {
    const { code, stderr } = await run(['input.js', '--input', input])
    expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(quoted)])
  })

  it('carries values beyond JSON in tagged form, out and in again', async () => {
    const first = (
      await runSource('return [10n, NaN, new Map([[1, new Date(0)]]), undefined]', ['--json'])
    ).json()
    const again = await run(['input.js', '--json', '--input', JSON.stringify(first.value)])
    expect(again.json().value).toEqual(first.value)
    expect((await run(['input.js', '--input', JSON.stringify(first.value)])).stdout).toBe(
      '[10n, NaN, Map(1) { 1 => Date(1970-01-01T00:00:00.000Z) }, undefined]\n',
    )
  })

  it('puts console lines on stderr, and into the document', async () => {
    const { stdout, stderr, json } = await runSource('console.log("a"); console.warn("b"); return 1', [
      '--json',
    ])
    expect(stderr).toBe('[log] a\n[warn] b\n')
    expect(json().logs).toMatchObject([
      { level: 'log', text: 'a' },
      { level: 'warn', text: 'b' },
    ])
    expect(stdout).not.toContain('[log]')
  })

  it('shows controls of the program escaped, on every way out', async () => {
    const source = `
      const evil = '\\x1b]0;title\\x07\\x1b[2J\\u202eabc\\nerror: fake'
      console.log(evil)
      Promise.reject(new Error(evil))
      if (input === 'throw') throw Object.assign(new Error(evil), { code: evil, name: evil })
      return { [evil]: evil }`
    for (const args of [[], ['--json'], ['--input', '"throw"'], ['--input', '"throw"', '--json']]) {
      const { stdout, stderr } = await runSource(source, args, { columns: 60 })
      expect(stdout + stderr.replaceAll('\r\x1b[K', '')).not.toMatch(OBEYED)
      expect(stderr).not.toMatch(/^error: fake/m)
    }
  })

  it('keeps 100,000 console lines within bounds and says so', async () => {
    const { stderr, json } = await runSource('for (let i = 0; i < 1e5; i++) console.log("line " + i)', [
      '--json',
    ])
    expect(json().logs.length).toBeLessThan(50_000)
    expect(stderr.split('\n').length).toBeLessThan(50_000)
    expect(stderr).toMatch(/\d+ more did not fit and were dropped/)
  })

  it('adds a summary on a terminal only', async () => {
    const { stderr } = await run(['p.js'], { columns: 100 })
    expect(stderr).toMatch(/completed · [\d,]+ fuel · 0 calls · [\d.]+ [KM]iB · [\d.]+ m?s\n$/)
  })

  it('shows a failure with its place and the next step', async () => {
    const { code, stdout, stderr } = await runSource('const a = 1\n  require("fs")')
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toContain("failed: ReferenceError: 'require' is not defined")
    expect(stderr).toContain('--> stdin:2:3')
    expect(stderr).toMatch(/2 \| {3}require\("fs"\)\n +\| {3}\^/)
    expect(stderr).toMatch(/next: [\s\S]*--allow-read/)
  })

  it('is that of a program in TypeScript, told by its name or by what it is, with places of its source', async () => {
    expect(await run(['typed.ts'])).toMatchObject({ code: 0, stdout: '2000\n' })
    expect(await runSource('const a: number = 7\nreturn a')).toMatchObject({ code: 0, stdout: '7\n' })
    const { code, stderr } = await run(['typed wrong.mts'])
    expect(code).toBe(3)
    expect(stderr).toContain('failed: SyntaxError: "namespace N" holds values')
    expect(stderr).toContain('--> program.mts:2:1')
    expect(stderr).toContain('2 | namespace N { export const a = 1 }')
  })
})

describe('exit codes', () => {
  it.each<[string, number, readonly string[]]>([
    ['return 1', 0, []],
    ['throw new Error("x")', 3, []],
    ['let x = ;', 3, []],
    ['await new Promise(() => {})', 3, []],
    ['while (1);', 4, ['--fuel', '1e7']],
    ['return await prices.refuse()', 5, ['--grant', 'prices.refuse']],
  ])('%s exits with %d', async (source, code, args) => {
    expect((await runSource(source, ['--tools', 'tools.mjs', ...args])).code).toBe(code)
  })

  it.each<[string, readonly string[]]>([
    ['while (1);', ['fuel']],
    // Whichever is smaller for it.
    ["new Array(1e9) + ''", ['fuel', 'memory']],
    ['const all = []; for (;;) all.push(new Array(1000).fill(1))', ['memory']],
    ['const down = (n) => down(n + 1) + 1; return down(0)', ['stack']],
  ])('%s exits with 4 and says which limit it reached', async (source, limits) => {
    const { code, stderr, json } = await runSource(source, ['--json'])
    expect(code).toBe(4)
    expect(limits).toContain(json().limit)
    expect(stderr.replace(/\n {9}/g, ' ')).toMatch(/^stopped: The guest .*\d.* \(limit \w+\)\.$/m)
  })

  it('are 4 at the deadline for a tool that never answers', async () => {
    const args = ['--tools', 'tools.mjs', '--grant', 'prices.never', '--timeout', '200ms', '--json']
    const { code, json } = await runSource('return await prices.never()', args)
    expect({ code, limit: json().limit }).toEqual({ code: 4, limit: 'wall' })
  })

  it('are 130 when a person stops the run', async () => {
    const source = 'while (1);'
    const { code, stderr, json } = await runSource(source, ['--fuel', '1e14', '--json'], {
      interruptAfterMs: 1_500,
    })
    expect(code).toBe(130)
    expect(stderr).toContain('interrupted')
    expect(json()).toMatchObject({ error: { code: 'aborted' } })
  })
})

describe('repeatable runs', () => {
  it('have the same fuel and final state, on the host thread and in a Worker', async () => {
    const key = async (args: readonly string[]): Promise<unknown> => {
      const { value, usage, stateDigest } = (await run(['p.js', '--json', ...args])).json()
      return { value, fuel: usage.fuel, stateDigest }
    }
    const first = await key(['--thread', 'host'])
    expect(await key(['--thread', 'host'])).toEqual(first)
    expect(await key(['--thread', 'worker'])).toEqual(first)
  })

  it('have the same clock and randomness with --seed and --now', async () => {
    const source = 'return [Date.now(), new Date().toISOString(), Math.random(), Math.random()]'
    const key = async (args: readonly string[]): Promise<unknown> => {
      const { status, value, usage, stateDigest } = (await runSource(source, ['--json', ...args])).json()
      return { status, value, fuel: usage.fuel, stateDigest }
    }
    const fixed = ['--seed', '1', '--now', '2026-01-01T00:00:00Z']
    const first = await key(fixed)
    expect(first).toMatchObject({
      status: 'completed',
      value: [
        Date.UTC(2026, 0, 1),
        expect.stringMatching(/^2026-01-01T00:00:00/),
        expect.any(Number),
        expect.any(Number),
      ],
    })
    expect(await key(fixed)).toEqual(first)
    expect(await key(['--seed', '2', '--now', '2026-01-01T00:00:00Z'])).not.toEqual(first)
  })

  it('hold deadlines although the clock stands still', async () => {
    const { code, json } = await runSource('while (1);', [
      '--now',
      '2026-01-01',
      '--timeout',
      '100ms',
      '--fuel',
      '1e14',
      '--thread',
      'worker',
      '--json',
    ])
    expect({ code, limit: json().limit }).toEqual({ code: 4, limit: 'wall' })
  })
})

describe('rights', () => {
  it('are all that --tools brings, unless --grant names some', async () => {
    expect(await run(['call.js', '--tools', 'tools.mjs'])).toMatchObject({
      code: 0,
      stdout: '{ sku: 1, price: 3 }\n',
      stderr: '',
    })
    expect((await run(['call.js'])).code).toBe(3)
  })

  it('are what is granted by name', async () => {
    expect(await run(['call.js', '--tools', 'tools.mjs', '--grant', 'prices.lookup'])).toMatchObject({
      code: 0,
      stdout: '{ sku: 1, price: 3 }\n',
      stderr: '',
    })
    const other = await runSource('return await prices.lookup({})', [
      '--tools',
      'tools.mjs',
      '--grant',
      'prices.count',
    ])
    expect(other.code).toBe(3)
    expect(other.stderr.replace(/\s+/g, ' ')).toContain(
      'next: prices.lookup exists and this guest has no grant for it: --grant prices.lookup',
    )
  })

  it('that are missing are in the document, too', async () => {
    const source = 'return await prices.lookup({})'
    const { json } = await runSource(source, ['--tools', 'tools.mjs', '--grant', 'prices.count', '--json'])
    expect(json().hint).toBe('prices.lookup exists and this guest has no grant for it: --grant prices.lookup')
    expect((await run(['p.js', '--json'])).json().hint).toBeNull()
    expect((await run(['p.js', '--json', '--nope'])).json().hint).toBe('caisson run --help')
  })

  it('name what a misspelt one may have been', async () => {
    const { json } = await runSource('return await prices.lokup({})', ['--tools', 'tools.mjs', '--json'])
    expect(json().hint).toBe('prices.lokup is no capability; did you mean prices.lookup?')
  })

  it('name near misses of unknown names', async () => {
    const { code, stderr } = await run(['call.js', '--tools', 'tools.mjs', '--grant', 'prices.lokup'])
    expect(code).toBe(2)
    expect(stderr.replace(/\s+/g, ' ')).toContain('Did you mean "prices.lookup"')
    expect((await run(['p.js', '--grant', 'a.b'])).stderr).toContain('--tools MODULE')
  })

  it('of one directory are relative to it, and end there', async () => {
    const source =
      'return [await files.readText({ path: "x.txt" }), await files.readText({ path: "../p.js" }).catch((e) => e.code)]'
    expect((await runSource(source, ['--allow-read', 'data'])).stdout).toBe('["X", "path_denied"]\n')
    expect((await runSource('return typeof files.write', ['--allow-read', 'data'])).stdout).toBe(
      'undefined\n',
    )
  })

  it('of several directories stand side by side, each with its own rights', async () => {
    const source = `
      await files.write({ path: 'out/y.txt', data: await files.readText({ path: 'data/x.txt' }) })
      return await files.write({ path: 'data/x.txt', data: '' }).catch((e) => e.code)`
    expect((await runSource(source, ['--allow-read', 'data', '--allow-write', 'out'])).stdout).toBe(
      'denied\n',
    )
    expect(readFileSync(join(folder.path, 'out/y.txt'), 'utf8')).toBe('X')
  })

  it('never let a program change what runs', async () => {
    symlinkSync('.', join(folder.path, 'link-to-all'))
    const repository = join(import.meta.dirname, '../..')
    for (const [directory, args] of [
      ['.', ['p.js']],
      ['link-to-all', ['p.js']],
      ['.', ['-', '--tools', 'tools.mjs']],
      [join(repository, 'dist/src'), ['-']],
      [join(repository, 'node_modules/ipaddr.js'), ['-']],
      [repository, ['-']],
    ] as const) {
      const { code, stderr } = await run([...args, '--allow-write', directory])
      expect({ directory, code }).toEqual({ directory, code: 2 })
      expect(stderr.replace(/\s+/g, ' ')).toContain('overlaps the protected path')
    }
  })

  it('of a host reach no other one', async () => {
    const source = 'return await net.fetch({ url: "http://127.0.0.1:9/" })'
    const { code, stderr } = await runSource(source, ['--allow-net', 'api.example.com'])
    expect(code).toBe(5)
    expect(stderr).toContain('network_denied')
  })
})

describe('tools that fail', () => {
  const granted = ['--tools', 'tools.mjs', '--grant', 'prices.broken', '--grant', 'prices.refuse']

  it('tell their author why, on stderr, and the program nothing', async () => {
    const source = 'return await prices.broken().catch((e) => [e.code, e.message, e.stack].join())'
    for (const args of [granted, [...granted, '--json']]) {
      const { code, stdout, stderr } = await runSource(source, args)
      expect(code).toBe(0)
      expect(stderr).toMatch(
        /^tool: prices\.broken failed \(call 1, the program was told capability_failed\):\n {6}TypeError: No \\x1b\[2Jprice\n/,
      )
      expect(stderr).toMatch(/^ {10}at .*tools\.mjs:\d+:\d+\)?$/m)
      expect(stderr).toMatch(/^ {6}caused by: Error: ECONNREFUSED$/m)
      expect(stderr).not.toMatch(/^error:/m)
      expect(stderr).not.toMatch(OBEYED)
      expect(stderr).not.toMatch(/node:internal|src\/capability/)
      expect(stdout).not.toMatch(/price\b|ECONNREFUSED|tools\.mjs/)
    }
  })

  it('do so within bounds', async () => {
    const source = 'for (let i = 0; i < 50; i++) await prices.broken("value").catch(() => {})'
    const { stderr } = await runSource(source, granted)
    expect(stderr.match(/^tool: prices/gm)).toHaveLength(20)
    expect(stderr).toMatch(/^tool: 30 more failures$/m)
  })

  it('and said so to the program themselves say it once', async () => {
    expect((await runSource('await prices.refuse().catch(() => {})', granted)).stderr).toBe('')
  })
})

describe('refusals', () => {
  it.each<[readonly string[], number, RegExp]>([
    [['nope.js'], 2, /"nope\.js" does not exist/],
    [['.'], 2, /is a directory/],
    [['p.js/x'], 2, /no directory/],
    [['a\0b'], 2, /no path/],
    [['binary.js'], 7, /not UTF-8/],
    [['nul.js'], 7, /binary/],
    [['large.js'], 7, /larger than 8 MiB/],
    [[], 2, /needs a FILE/],
    [['p.js', 'q.js'], 2, /one FILE; "q\.js" is too much/],
    [['p.js', '--memroy', '1MiB'], 2, /no flag --memroy. Did you mean --memory/],
    [['p.js', '-j'], 2, /no flag -j/],
    [['p.js', '--fuel'], 2, /--fuel needs a value/],
    [['p.js', '--fuel', '--json'], 2, /--fuel needs a value/],
    [['p.js', '--fuel', '1', '--fuel', '2'], 2, /--fuel is given twice/],
    [['p.js', '--json=yes'], 2, /switch/],
    [['p.js', '--fuel', '0'], 2, /it takes 1 to/],
    [['p.js', '--fuel', '-5'], 2, /whole number such as/],
    [['p.js', '--memory', '32M'], 2, /32MiB/],
    [['p.js', '--memory', '1KiB'], 2, /1 MiB to 2 GiB/],
    [['p.js', '--memory', '9999GiB'], 2, /1 MiB to 2 GiB/],
    [['p.js', '--memory', '16'], 2, /no unit, and so few bytes .* Did you mean --memory 16MiB\?/],
    [['p.js', '--stack', '512'], 2, /Did you mean --stack 512KiB\?/],
    [['p.js', '--timeout', '5'], 2, /5s or 5ms/],
    [['p.js', '--timeout', '0s'], 2, /1 ms to/],
    [['p.js', '--stack', '1GiB'], 2, /192 KiB to/],
    [['p.js', '--seed', 'x'], 2, /--seed takes a whole number/],
    [['p.js', '--now', 'today'], 2, /ISO 8601/],
    [['p.js', '--thread', 'gpu'], 2, /worker or host/],
    [['p.js', '--input', '{"a": 1,}'], 2, /line 1, column 9/],
    [['p.js', '--input', '{"$caisson": "nonsense"}'], 2, /--input/],
    [['p.js', '--input', '@bad.json'], 7, /line 2, column 4: expected "," or "]"/],
    [['p.js', '--input', '@none.json'], 2, /"none\.json" does not exist/],
    [['-', '--input', '@-'], 2, /cannot both come from standard input/],
    [['p.js', '--tools', 'none.mjs'], 2, /no file "none\.mjs"/],
    [['p.js', '--tools', 'throws.mjs'], 7, /broken at start/],
    [['p.js', '--tools', 'no-list.mjs'], 7, /no list/],
    [['p.js', '--tools', 'no-default.mjs'], 7, /no default export/],
    [['p.js', '--tools', 'bad-capability.mjs'], 7, /"name"/],
    [['p.js', '--allow-read', 'nowhere'], 2, /cannot be opened/],
    [['p.js', '--allow-read', 'p.js'], 2, /no directory/],
    [['p.js', '--allow-read', 'data', '--allow-read', 'other/data'], 2, /have the name "data"/],
    [['p.js', '--allow-net', '*.com'], 2, /anybody can register/],
    [['p.js', '--allow-net', '10.0.0.1'], 2, /one port at a time/],
    [['p.js', '--allow-net', 'localhost'], 2, /one port at a time/],
    [['p.js', '--allow-net', 'http://a/b?c'], 2, /--allow-net/],
  ])('%j exits with %d and a message', async (args, code, message) => {
    const plain = await run(args)
    expect(plain.stderr.replace(/\n {7}/g, ' ')).toMatch(message)
    expect(plain.code).toBe(code)
    if (!args.includes('--json')) expect(plain.stdout).toBe('')
    expect(plain.stderr).not.toMatch(/^\s+at /m)

    const asJson = await run(['--json', ...args])
    if (args.includes('--json=yes')) return
    expect(asJson.code).toBe(code)
    expect(asJson.json()).toMatchObject({ status: 'refused', value: null, engine: null })
    expect(asJson.json().error?.message.replace(/\s+/g, ' ')).toMatch(message)
  })

  it('escape hostile names', async () => {
    for (const args of [
      ['\x1b[2J\nerror: x.js'],
      ['p.js', '--\x1b[2J'],
      ['p.js', '--tools', '\u202ex'],
      ['p.js', '--memory', '\x9b1'],
    ]) {
      const { code, stderr } = await run(args)
      expect(code).toBe(2)
      expect(stderr).not.toMatch(OBEYED)
    }
  })
})
