/** Components that are run to their end: what they give, how they fail, what they are kept with, and what is refused. */
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { readSample } from '../../../scripts/samples/read-sample.ts'
import { type ComponentResult, openRuntime } from '../../entry/node.ts'
import type { GuestOutcome } from '../guest-runs.ts'

const types = await readSample('types-c')
const tool = await readSample('tool-c')
const probe = await readSample('wasi-probe-c')
const echoNow = {
  name: 'hostCall',
  description: 'Says what it is told.',
  effect: 'read',
  sync: true,
  invoke: (input: unknown) => `said ${(input as { arguments: string }).arguments}`,
} as const

describe('a component that is run', () => {
  it('gives plain values, the same for the same seed and time', async () => {
    await using runtime = await openRuntime()
    const options = { export: 'concat', args: ['a', 'b'], seed: 1, nowMs: 0, stateDigest: true }
    const first = await runtime.runComponent(types, options)
    expect(first).toMatchObject({ status: 'completed', value: 'ab' })
    const { stateDigest, engine, usage } = await runtime.runComponent(types, options)
    expect([stateDigest, engine, usage.fuel]).toEqual([first.stateDigest, first.engine, first.usage.fuel])
    expect(await runtime.runComponent(types, { export: 'parse', args: ['x'] })).toMatchObject({
      status: 'failed',
      error: { name: 'Err', code: 'capability_failed' },
    })
  })

  it('fails as data where it is called wrongly, and where nobody grants what it imports', async () => {
    await using runtime = await openRuntime()
    const failed = async (options: object): Promise<unknown> =>
      (await runtime.runComponent(types, options)) as unknown
    expect(await failed({ export: 'none' })).toMatchObject({ error: { code: 'not_found' } })
    expect(await failed({ export: 'concat', args: ['a'] })).toMatchObject({
      error: { code: 'invalid_arguments' },
    })
    expect(await failed({ export: 'lengths', args: ['no list'] })).toMatchObject({
      error: { code: 'invalid_arguments' },
    })
    expect(await runtime.runComponent(tool, { args: ['a'] })).toMatchObject({
      status: 'failed',
      error: { code: 'missing_imports' },
    })
  })

  it('has the digest of one that was opened and called', async () => {
    await using runtime = await openRuntime({ capabilities: [echoNow] })
    const options = { grants: ['hostCall'], seed: 5, nowMs: 1_700_000_000_000 }
    const component = await runtime.openComponent(tool, options)
    await component.call('run', ['a\nb'])
    const { stateDigest } = await runtime.runComponent(tool, {
      ...options,
      args: ['a\nb'],
      stateDigest: true,
    })
    expect(stateDigest).toBe(component.stateDigest())
  })

  it('is kept under a name, and its end is told again', async () => {
    await using runtime = await openRuntime({ capabilities: [echoNow], store: createMemoryRunStore() })
    const ran = await runtime.runComponent(tool, { grants: ['hostCall'], args: ['a'], run: 'kept' })
    expect(ran).toMatchObject({ status: 'completed', value: 'said {"line":"a"}', run: 'kept' })
    const again = await runtime.resumeComponent('kept', tool, { grants: ['hostCall'] })
    expect(again).toMatchObject({ status: 'completed', value: ran.status === 'completed' && ran.value })
    await expect(runtime.resumeComponent('none', tool)).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a component whose output is collected', () => {
  const wasi = { directories: { '/out': { files: { 'before.txt': 'b' }, writable: true } } }
  const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)

  it('gives what it wrote beside what its export gave, and what it exited with', async () => {
    await using runtime = await openRuntime()
    const wrote = await runtime.runComponent(probe, { args: ['write /out/a.txt'], wasi, collect: true })
    const { value, files } = resultOf(wrote)
    expect([value, Object.keys(files), text(files['/out/a.txt'])]).toEqual([
      'written',
      ['/out/a.txt'],
      'written by a guest\n',
    ])
    expect(wrote.usage).toMatchObject({ bytesIn: 1, bytesOut: 19 })
    const said = resultOf(await runtime.runComponent(probe, { args: ['print a'], wasi, collect: true }))
    expect([text(said.stdout), said.exitCode]).toEqual(['a\n', 0])
    const exited = resultOf(await runtime.runComponent(probe, { args: ['exit 1'], wasi, collect: true }))
    expect(exited).toMatchObject({ exitCode: 1, value: null })
    expect(await runtime.runComponent(probe, { args: ['none'], wasi, collect: true })).toMatchObject({
      status: 'failed',
      error: { name: 'Err' },
    })
  })

  it('writes no more than bytesOut, and has no log in the place of standard output', async () => {
    await using runtime = await openRuntime()
    const run = (action: string, limits: object): Promise<GuestOutcome> =>
      runtime.runComponent(probe, { args: [action], wasi, collect: true, limits })
    for (const action of ['print twenty characters...', 'write /out/a.txt'])
      expect(await run(action, { bytesOut: 15 })).toMatchObject({ status: 'exhausted', limit: 'bytes' })
    const printed = resultOf(await run('print twenty characters', { logBytes: 5 }))
    expect(text(printed.stdout)).toBe('twenty characters\n')
    const complained = await run('complain twenty characters', { logBytes: 5 })
    expect(text(resultOf(complained).stderr)).toBe('twent')
    expect(complained.usage.logsDropped).toBeGreaterThan(0)
  })

  it('is kept, and its end is told again', async () => {
    await using runtime = await openRuntime({ store: createMemoryRunStore() })
    const ran = await runtime.runComponent(probe, { args: ['print a'], wasi, collect: true, run: 'kept' })
    const again = await runtime.resumeComponent('kept', probe)
    expect(resultOf(again)).toEqual(resultOf(ran))
  })

  function resultOf(outcome: GuestOutcome): ComponentResult {
    expect(outcome).toMatchObject({ status: 'completed' })
    return (outcome as { readonly value?: unknown }).value as ComponentResult
  }
})

describe('options', () => {
  it.each([
    ['openComponent', { grant: ['hostCall'] }],
    ['openComponent', { wasi: { dirs: {} } }],
    ['openComponent', { wasi: { directories: { '/a': { file: {} } } } }],
    ['runComponent', { stdin: 'x' }],
    ['runComponent', { wasi: { stdin: 5 } }],
    ['runComponent', { collect: 1 }],
    ['runComponent', { args: 'a' }],
    ['runModule', { grant: ['hostCall'] }],
    ['runModule', { env: { A: 1 } }],
  ] as const)('of %s that are misspelt or of another type are refused: %o', async (method, options) => {
    await using runtime = await openRuntime()
    await expect(runtime[method](types, options as object)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/^There is no option "|^Option /),
    })
  })

  it('of what is gone on with are, too', async () => {
    await using runtime = await openRuntime({ store: createMemoryRunStore() })
    for (const method of ['resumeComponent', 'resumeModule'] as const) {
      const wasm = method === 'resumeModule' ? await readSample('command-c') : types
      await expect(runtime[method]('r', wasm, { grant: [] } as object)).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining('There is no option "grant"'),
      })
    }
  })
})
