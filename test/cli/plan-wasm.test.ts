/** `caisson plan` with WebAssembly: what is wrong with it is told before anything is proposed, and what it is to whoever approves. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { sha256 } from '../../src/base/digest.ts'
import { cli, type Ended, type Folder, makeFolder, toolsModule } from './cli.testkit.ts'

const sample = (name: string): Uint8Array =>
  readFileSync(new URL(`../../guest/samples/built/${name}.wasm`, import.meta.url))

const HEAD = 'format: plan/1\nname: wasm\nversion: "1"\n'

const BROKEN = `${HEAD}grants: [prices.lookup]
nodes:
  ungranted: { kind: module, file: asking.wasm }
  misspelt:
    kind: component
    file: types.wasm
    export: concta
    args: [a, b]
  each:
    kind: each
    over: [1]
    most: 1
    do:
      nodes:
        turned: { kind: module, file: types.wasm }
  text: { kind: module, file: text.wasm }
`

const RIGHT = `${HEAD}grants: [prices.lookup]
nodes:
  ask: { kind: module, file: asking.wasm, grants: [prices.lookup] }
  join: { kind: component, file: types.wasm, export: concat, args: [a, b] }
`

// The first one to be made suspendable takes seconds.
vi.setConfig({ testTimeout: 240_000 })

let folder: Folder
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')
const run = (...args: readonly string[]): Promise<Ended> => cli(args, { cwd: folder.path })

beforeAll(() => {
  folder = makeFolder({
    'asking.wasm': sample('asking-c'),
    'types.wasm': sample('types-c'),
    'tool.wasm': sample('tool-c'),
    'text.wasm': 'text',
    'broken.yaml': BROKEN,
    'right.yaml': RIGHT,
    'tools.mjs': toolsModule('sources'),
  })
})
afterAll(() => folder.remove())

describe.each([
  ['check', []],
  ['propose', ['--store', 'runs', '--run', 'broken']],
] as const)('caisson plan %s', (command, flags) => {
  it('tells all that is wrong with the WebAssembly of a plan, each with its place', async () => {
    const { code, stderr } = await run('plan', command, 'broken.yaml', ...flags)
    expect(code).toBe(7)
    const lines = stderr.trimEnd().split('\n')
    expect(lines).toHaveLength(5)
    expect(lines[0]).toMatch(
      /^broken\.yaml:6:3: nodes\/ungranted\/grants: the module imports what nobody grants it: prices\.lookup\. Grant it the capability "prices\.lookup" \(grants of the node and of the plan\)\./,
    )
    expect(lines[1]).toMatch(
      /^broken\.yaml:10:5: nodes\/misspelt\/export: the component exports no function "concta"\. Did you mean "concat"\?/,
    )
    expect(
      lines.some((line) => line.startsWith('broken.yaml:18:19: nodes/each/do/nodes/turned/kind: ')),
    ).toBe(true)
    expect(
      lines.some((line) => line.startsWith('broken.yaml:19:25: nodes/text/file: this is no WebAssembly')),
    ).toBe(true)
    expect(lines[4]).toBe('The plan is refused: 4 problems.')
  })

  it('tells machines the code that running the node would end with', async () => {
    const { code, stdout } = await run('plan', command, 'broken.yaml', ...flags, '--json')
    expect(code).toBe(7)
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'refused',
      count: 4,
      problems: [
        { at: '/nodes/ungranted/grants', line: 6, code: 'missing_imports' },
        { at: '/nodes/misspelt/export', code: 'not_found' },
        { at: '/nodes/text/file', code: 'invalid_module' },
        { at: '/nodes/each/do/nodes/turned/kind', code: 'invalid_module' },
      ],
    })
  })
})

describe('what is approved of WebAssembly', () => {
  const told = [
    /wasm core module, [0-9,]+ bytes,/,
    /imports prices: lookup wasi_snapshot_preview1: .*fd_write/,
    /wasm component, [0-9,]+ bytes,/,
    /imports nothing/,
  ]

  it('is told with the plan: form, digest, size and imports', async () => {
    expect(await run('plan', 'check', 'right.yaml', '--tools', 'tools.mjs')).toMatchObject({ code: 0 })
    const { code, stdout } = await run('plan', 'show', 'right.yaml')
    expect(code).toBe(0)
    for (const line of told) expect(flat(stdout)).toMatch(line)
    // All of it: who approves compares it.
    expect(stdout.replaceAll(/\s+/g, '')).toContain(sha256(sample('asking-c')))
    const json = JSON.parse((await run('plan', 'show', 'right.yaml', '--json')).stdout) as unknown
    expect(json).toMatchObject({ guests: [{ form: 'module', nodes: ['ask'] }, { form: 'component' }] })
  })

  it('is told with the proposal, and with the run before it begins', async () => {
    const flags = ['--store', 'runs', '--run', 'right', '--tools', 'tools.mjs']
    const proposed = await run('plan', 'propose', 'right.yaml', ...flags)
    expect(proposed.code).toBe(0)
    const shown = await run('show', 'right', '--store', 'runs')
    for (const { stdout } of [proposed, shown]) for (const line of told) expect(flat(stdout)).toMatch(line)
    const json = JSON.parse((await run('show', 'right', '--store', 'runs', '--json')).stdout) as unknown
    expect(json).toMatchObject({ guests: [{ form: 'module' }, { form: 'component' }] })
  })

  it('is its digest alone where nobody has the bytes, and is not proposed then', async () => {
    writeFileSync(
      join(folder.path, 'none.yaml'),
      RIGHT.replace('file: types.wasm', `wasm: sha256:${'0'.repeat(64)}`),
    )
    const shown = await run('plan', 'show', 'none.yaml')
    expect(shown.stdout).toMatch(/wasm +sha256:0{64}/)
    const proposed = await run('plan', 'propose', 'none.yaml', '--store', 'runs', '--tools', 'tools.mjs')
    expect(proposed.code).not.toBe(0)
    expect(flat(proposed.stderr)).toMatch(/The wasm sha256:0+ is not in the store/)
  })
})

describe('caisson run', () => {
  it('says in its own words how what a guest imports is granted', async () => {
    for (const [file, name] of [
      ['asking.wasm', 'prices.lookup'],
      ['tool.wasm', 'hostCall'],
    ]) {
      const { code, stderr } = await run('run', file as string, '--input', '"x"').then((ended) =>
        ended.code === 2 ? run('run', file as string) : ended,
      )
      expect(code).not.toBe(0)
      const text = flat(stderr)
      expect(text).toContain(`Grant it the capability "${name}" (--tools MODULE`)
      expect(text).not.toMatch(/missing: 'trap'|\(grants\)|\(interfaces\)/)
    }
  })
})
