/** The command line with components and modules: called, limited, parked, shown, gone on with, and as nodes of plans. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from '@bytecodealliance/jco-transpile/wasm-tools'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestServer, type TestServer } from '../../host-bindings/fetch/http-server.testkit.ts'
import { cli, type Ended, type Folder, makeFolder } from './cli.testkit.ts'

const sample = (name: string): Uint8Array =>
  readFileSync(new URL(`../../guest/samples/built/${name}.wasm`, import.meta.url))

const TOOLS = `export default [
  { name: 'hostCall', description: 'Says what it is told.', effect: 'read',
    invoke: async ({ arguments: said }) => { if (said.includes('bad')) throw new Error('no'); return 'said ' + said } },
  { name: 'prices.lookup', description: 'The price of a product.', effect: 'read',
    invoke: async ({ sku }) => Number(sku.slice(1)) + 10 },
]`

const PLAN = JSON.stringify({
  format: 'plan/1',
  name: 'files',
  version: '1',
  grants: ['hostCall'],
  nodes: {
    loud: { kind: 'module', file: 'command.wasm', args: ['upper'], stdin: { $from: 'input' } },
    said: {
      kind: 'component',
      file: 'tool.wasm',
      export: 'run',
      args: [{ $from: 'loud/stdout' }],
      grants: ['hostCall'],
    },
  },
  output: { $from: 'said' },
})

// The first one to be made suspendable takes seconds.
vi.setConfig({ testTimeout: 240_000 })

/** What was broken into lines for a terminal, as one. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

let folder: Folder
const cache = process.env.XDG_CACHE_HOME
beforeAll(() => {
  folder = makeFolder({
    'tool.wasm': sample('tool-c'),
    'types.wasm': sample('types-c'),
    'wasi.wasm': sample('wasi-probe-c'),
    'command.wasm': sample('command-c'),
    'asking.wasm': sample('asking-c'),
    'http.wasm': sample('http-c'),
    'tools.mjs': TOOLS,
    'plan.yaml': PLAN,
  })
  for (const name of ['data']) mkdirSync(join(folder.path, name))
  writeFileSync(join(folder.path, 'data/in.txt'), 'inside')
  process.env.XDG_CACHE_HOME = join(folder.path, 'cache')
})
afterAll(() => {
  if (cache === undefined) delete process.env.XDG_CACHE_HOME
  else process.env.XDG_CACHE_HOME = cache
  folder.remove()
})

/** A command that asks `net.fetch` for an address, and prints what it is answered. */
function fetchingModule(url: string): Promise<Uint8Array> {
  const input = JSON.stringify({ url })
  return parse(`(module
  (import "net" "fetch" (func $fetch (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "${input.replaceAll('"', '\\22')}")
  (func (export "_start") (local $length i32)
    (local.set $length
      (call $fetch (i32.const 16) (i32.const ${input.length}) (i32.const 1024) (i32.const 32768)))
    ;; That of a failure is negated.
    (if (i32.lt_s (local.get $length) (i32.const 0))
      (then (local.set $length (i32.sub (i32.const 0) (local.get $length)))))
    (i32.store (i32.const 0) (i32.const 1024))
    (i32.store (i32.const 4) (local.get $length))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))`)
}

const run = (...args: readonly string[]): Promise<Ended> => cli(args, { cwd: folder.path, anyThread: true })
const TOOLED = ['--tools', 'tools.mjs'] as const
const SAID = 'said {"line":"a"}\nsaid {"line":"b"}\n'
const INPUT = ['--input', '["a\\nb"]'] as const

describe('a component', () => {
  it('is called with what --input says, and what it gives is printed', async () => {
    expect(await run('run', 'types.wasm', '--call', 'concat', '--input', '["a", "b"]')).toMatchObject({
      code: 0,
      stdout: 'ab\n',
    })
    const ended = await run('run', 'types.wasm', '--call', 'parse', '--input', '"17"', '--json')
    expect(ended.json()).toMatchObject({
      status: 'completed',
      value: 17,
      engine: expect.stringMatching(/^component:/),
      stateDigest: expect.stringMatching(/^sha256:/),
    })
  })

  it('has the capabilities that flags grant, and no others', async () => {
    expect(await run('run', 'tool.wasm', ...INPUT, ...TOOLED)).toMatchObject({ code: 0, stdout: SAID })
    const without = await run('run', 'tool.wasm', ...INPUT)
    expect(without.code).toBe(3)
    expect(without.stderr).toMatch(/imports what nobody grants/)
    const refused = await run('run', 'tool.wasm', '--input', '"bad"', ...TOOLED, '--json')
    expect(refused).toMatchObject({ code: 3 })
    expect(refused.json()).toMatchObject({ status: 'failed', error: { code: 'capability_failed' } })
  })

  it('finds of WASI what flags name, and what it prints comes before what it gives', async () => {
    const probe = (action: string, ...flags: readonly string[]): Promise<Ended> =>
      run('run', 'wasi.wasm', '--input', JSON.stringify(action), ...flags)
    expect(await probe('env A', '--env', 'A=b')).toMatchObject({ code: 0, stdout: 'b\n' })
    expect(await probe('stdin', '--stdin', 'typed')).toMatchObject({ code: 0, stdout: 'typed\n' })
    expect(await probe('read /in/in.txt', '--allow-read', 'data:/in')).toMatchObject({
      code: 0,
      stdout: 'inside\n',
    })
    expect(await probe('read /in/in.txt')).toMatchObject({ code: 3 })
    expect((await probe('print hello')).stdout).toMatch(/^hello/)
    expect(await probe('exit 1')).toMatchObject({ code: 3 })
  })

  it('ends with the codes of its limits, and of what is asked wrongly', async () => {
    expect(await run('run', 'tool.wasm', ...INPUT, ...TOOLED, '--fuel', '1e3')).toMatchObject({ code: 4 })
    expect(await run('run', 'types.wasm', '--call', 'none')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/exports no function "none"\..* It exports: /),
    })
    expect(await run('run', 'command.wasm', '--call', 'run')).toMatchObject({ code: 2 })
  })
})

describe('a component that asks over HTTP', () => {
  const serve = (): Promise<TestServer> =>
    openTestServer((request, response) => {
      response.setHeader('content-type', 'text/x')
      response.end(`${request.method} ${request.url}`)
    })
  const ask = (
    server: TestServer,
    method: string,
    path: string,
    ...flags: readonly string[]
  ): Promise<Ended> => {
    const input = JSON.stringify([method, `127.0.0.1:${server.port}`, path, ''])
    return run('run', 'http.wasm', '--call', 'ask', '--input', input, ...flags)
  }
  const allow = ({ port }: TestServer): string[] => ['--allow-net', `127.0.0.1:${port}`]

  it('reaches the hosts of --allow-net, one request after the other', async () => {
    await using server = await serve()
    expect(await ask(server, 'GET', '/a\n/b?c=1', ...allow(server))).toMatchObject({
      code: 0,
      stdout: '200 text/x GET /a\n200 text/x GET /b?c=1\n',
    })
    expect(server.asked).toEqual(['GET /a', 'GET /b?c=1'])
  })

  it('is denied every other host, other methods than GET and HEAD, and all of it without the flag', async () => {
    await using server = await serve()
    await using other = await serve()
    for (const [method, to, flags, said] of [
      ['GET', other, allow(server), 'failed with 15'],
      ['POST', server, allow(server), 'failed with 15'],
      ['GET', server, ['--allow-net', 'api.example.com'], 'failed with 15'],
      ['GET', server, [], 'refused with 15'],
    ] as const)
      expect(await ask(to, method, '/a', ...flags)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(said),
      })
    expect([...server.asked, ...other.asked]).toEqual([])
  })

  it.each([
    ['*.com', /anybody can register/],
    ['10.0.0.1', /one port at a time/],
    ['localhost', /one port at a time/],
    ['http://a/b?c', /--allow-net/],
  ])('is refused --allow-net %s as programs are', async (host, words) => {
    expect(await run('run', 'http.wasm', '--call', 'ask', '--allow-net', host)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(words),
    })
  })

  it('is kept with the hosts that it may reach, and goes on with no others', async () => {
    await using server = await serve()
    const kept = (run: string): string[] => ['--store', 'net', '--run', run]
    // More than checkpoints are apart: none is taken while a request is under way.
    const paths = Array.from({ length: 20 }, (_, at) => `/${at}`)
    const all = { code: 0, stdout: paths.map((path) => `200 text/x GET ${path}\n`).join('') }
    expect(await ask(server, 'GET', paths.join('\n'), ...allow(server), ...kept('all'))).toMatchObject(all)
    expect(server.asked).toHaveLength(20)
    const few = await ask(server, 'GET', paths.join('\n'), ...allow(server), ...kept('few'), '--calls', '3')
    expect(few.code).toBe(4)
    expect(server.asked).toHaveLength(23)
    const resume = (...flags: readonly string[]): Promise<Ended> =>
      run('resume', 'few', '--store', 'net', '--wasm', 'http.wasm', '--calls', '50', ...flags)
    const wider = await resume('--allow-net', 'api.example.com')
    expect(wider.code).toBe(7)
    expect(wider.stderr).toMatch(/Not there then: net\s+api\.example\.com/)
    expect(await resume(...allow(server))).toMatchObject(all)
    expect(server.asked).toHaveLength(40)
  })

  it('is parked with a request under way by its record, without a checkpoint, and that is said', async () => {
    await using server = await serve()
    const parking = ['--stop-at-call', '1', '--checkpoint', 'http.ckpt']
    const parked = await ask(server, 'GET', '/a', ...allow(server), ...parking)
    expect(parked.code).toBe(6)
    expect(parked.stderr.replaceAll(/\s+/g, ' ')).toContain(
      'there is no http.ckpt, and it goes on by its record',
    )
    expect(server.asked).toEqual([])
    const [, goOn = ''] = /caisson (resume .*)$/m.exec(parked.stderr) ?? []
    expect(await run(...goOn.split(' '))).toMatchObject({ code: 0, stdout: '200 text/x GET /a\n' })
    expect(server.asked).toEqual(['GET /a'])
  })
})

describe('a module', () => {
  it('is refused --allow-net, as WASI preview 1 has no HTTP, unless it imports the capability', async () => {
    for (const file of ['command.wasm', 'asking.wasm']) {
      const refused = await run('run', file, ...TOOLED, '--allow-net', 'api.example.com')
      expect(refused.code).toBe(2)
      expect(refused.stderr.replaceAll(/\s+/g, ' ')).toMatch(/preview 1 has no HTTP.*Build it as a component/)
    }
    await using server = await openTestServer((_, response) => response.end('from there'))
    const host = `127.0.0.1:${server.port}`
    writeFileSync(join(folder.path, 'fetches.wasm'), await fetchingModule(`http://${host}/a`))
    const ended = await run('run', 'fetches.wasm', '--allow-net', host)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('from there') })
    const denied = await run('run', 'fetches.wasm', '--allow-net', 'api.example.com')
    expect(denied.stdout).toContain('"code":')
    expect(server.asked).toEqual(['GET /a'])
  })
})

describe.each([
  ['component', 'tool.wasm', [...INPUT], 'hostCall', SAID, /a component, called by "run"/],
  [
    'module',
    'asking.wasm',
    [],
    'prices.lookup',
    'p0 costs 10\np1 costs 11\np2 costs 12\ntogether 33\n',
    /a WASI module/,
  ],
] as const)('a %s', (kind, file, input, capability, output, words) => {
  it('is parked in a file, shown, and gone on with by its file and its rights', async () => {
    const name = `${kind}.ckpt`
    const parking = ['--stop-at-call', '2', '--checkpoint', name]
    const parked = await run('run', file, ...input, ...TOOLED, ...parking)
    expect(parked.code).toBe(6)
    expect(parked.stderr).toContain(`caisson resume ${name} --wasm ${file} --tools tools.mjs`)
    const shown = await run('show', name)
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(words) })
    expect(shown.stdout).toContain(capability)
    expect(shown.stdout).toContain(`--wasm ${file}`)

    const unnamed = await run('resume', name, ...TOOLED)
    expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining(`--wasm ${file}`) })
    const other = await run('resume', name, '--wasm', 'types.wasm', ...TOOLED)
    expect(other.code).toBe(7)
    expect(other.stderr).toContain(
      kind === 'module' ? 'types.wasm is a component, and' : 'types.wasm is not the component that this run',
    )
    expect(other.stderr).toContain(`--wasm ${file}`)
    const unarmed = await run('resume', name, '--wasm', file)
    expect(unarmed.code).toBe(7)
    expect(flat(unarmed.stderr)).toMatch(/(Not granted here|Missing now): hostCall, prices\.lookup\./)
    expect(flat(unarmed.stderr)).toContain('add --tools MODULE --grant hostCall --grant prices.lookup')
    const went = await run('resume', name, '--wasm', file, ...TOOLED)
    expect(went).toMatchObject({ code: 0, stdout: output })
    expect(await run('resume', name, '--wasm', file, ...TOOLED)).toMatchObject({ code: 7 })
  })

  it('is kept in a store under a name', async () => {
    const where = ['--store', 'runs']
    const parked = await run('run', file, ...input, ...TOOLED, ...where, '--run', kind, '--stop-at-call', '1')
    expect(parked.code).toBe(6)
    expect((await run('runs', ...where)).stdout).toContain(kind)
    const went = await run('resume', kind, ...where, '--wasm', file, ...TOOLED, '--json')
    expect(went).toMatchObject({ code: 0 })
    expect(went.json()).toMatchObject({ status: 'completed', run: kind })
  })
})

describe('a plan', () => {
  it('names wasm by file: it is approved by digest, run, and verified', async () => {
    const where = ['--store', 'plans']
    expect(await run('plan', 'check', 'plan.yaml')).toMatchObject({ code: 0 })
    const flags = [...where, '--run', 'files', '--input', '"a"', '--approve', ...TOOLED]
    const ended = await run('plan', 'start', 'plan.yaml', ...flags)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('said {"line":"A"}') })
    expect(await run('verify', 'files', ...where, ...TOOLED)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 programs executed again'),
    })
    const shown = await run('plan', 'show', 'plan.yaml')
    expect(shown.stdout).toMatch(/may call +hostCall/)
  })
})
