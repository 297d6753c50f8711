/** WASI modules through the runtime: run, kept, killed and gone on with. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import type { ModuleResult } from '../../src/component/module/module-end.ts'
import { type Capability, capability, openRuntime, type Runtime } from '../../src/entry/node.ts'
import type { ModuleOutcome, PreparedModule } from '../../src/runtime/wasi/module-options.ts'

const sample = (name: string): Uint8Array =>
  readFileSync(new URL(`../../guest/samples/built/${name}.wasm`, import.meta.url))
const COMMAND = sample('command-c')
const CLOCK = { now: () => 1_767_225_600_000, monotonic: () => performance.now() }
const SEED = 1

/** Product N costs N + 10. From `silentFrom` on nobody answers any more. */
function prices(asked: number[], silentFrom = Number.POSITIVE_INFINITY): Capability {
  return capability({
    name: 'prices.lookup',
    description: 'The price of a product',
    effect: 'read',
    idempotent: true,
    invoke: async (args: unknown) => {
      const number = Number((args as { sku: string }).sku.slice(1))
      asked.push(number)
      if (number >= silentFrom) await new Promise(() => {})
      return number + 10
    },
  })
}

function resultOf(outcome: ModuleOutcome): ModuleResult {
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

const printed = (outcome: ModuleOutcome): string => new TextDecoder().decode(resultOf(outcome).stdout)

describe('runModule', () => {
  let runtime: Runtime
  let plain: PreparedModule
  let suspendable: PreparedModule
  beforeAll(async () => {
    runtime = await openRuntime({ clock: CLOCK })
    suspendable = await runtime.prepareModule(COMMAND)
    plain = await runtime.prepareModule(COMMAND, { suspendable: false })
  }, 120_000)
  afterAll(() => runtime.close())

  it('runs a command with what it is given', async () => {
    const outcome = await runtime.runModule(plain, {
      name: 'command',
      args: ['copy', '/in/a.txt', '/out/b.txt'],
      directories: { '/in': { files: { 'a.txt': 'from a' } }, '/out': { files: {}, writable: true } },
      stateDigest: true,
    })
    expect(resultOf(outcome)).toMatchObject({
      exitCode: 0,
      files: { '/out/b.txt': new TextEncoder().encode('from a') },
    })
    expect(outcome.engine).toMatch(/^module:[0-9a-f]{64}$/)
    expect(outcome.stateDigest).toMatch(/^sha256:/)
  })

  it('sleeps in earnest where it can, which is no active time', async () => {
    const outcome = await runtime.runModule(suspendable, { args: ['sleep', '30'], nowMs: 0 })
    expect(printed(outcome)).toBe('30\n')
    expect(outcome.usage.idleMs).toBeGreaterThan(0)
  })

  it('tells what was written before a limit ended it', async () => {
    const outcome = await runtime.runModule(plain, { args: ['loop'], limits: { fuel: 1_000_000 } })
    expect(outcome).toMatchObject({
      status: 'exhausted',
      limit: 'fuel',
      output: { stdout: new Uint8Array(0) },
    })
  })

  it('keeps two with other grants apart that run at the same time', async () => {
    const both = await Promise.all(
      ['one', 'two'].map((name) =>
        runtime.runModule(suspendable, {
          args: ['copy', '/own/secret', '/out/copy'],
          directories: { '/own': { files: { secret: name } }, '/out': { files: {}, writable: true } },
        }),
      ),
    )
    expect(both.map((outcome) => new TextDecoder().decode(resultOf(outcome).files['/out/copy']))).toEqual([
      'one',
      'two',
    ])
    const without = await runtime.runModule(suspendable, { args: ['copy', '/own/secret', '/out/copy'] })
    expect(resultOf(without)).toMatchObject({ exitCode: 1, files: {} })
  })

  it.each([
    ['nothing', new Uint8Array(0), 'invalid_module', /empty/],
    ['text', new TextEncoder().encode('print(1)'), 'invalid_module', /no WebAssembly binary/],
    ['half a module', COMMAND.subarray(0, 1_000), 'invalid_module', /bytes are missing/],
    ['a component', sample('tool-c'), 'invalid_module', /open it as a component/],
  ])('refuses %s', async (_what, bytes, code, message) => {
    await expect(runtime.runModule(bytes)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    })
  })

  it('refuses options that cannot be meant', async () => {
    await expect(runtime.runModule(plain, { directories: { '/d': {} } })).rejects.toThrow(
      /either files or open/,
    )
    await expect(runtime.runModule(plain, { args: [1] as never })).rejects.toThrow(
      /args must be a list of texts/,
    )
    await expect(runtime.runModule('a.wasm' as never)).rejects.toThrow(/given as its bytes/)
    const files = { '/d': { files: { '../x': 'y' } } }
    await expect(runtime.runModule(plain, { directories: files })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })
})

describe('kept runs of modules', () => {
  const prepared = new Map<string, PreparedModule>()
  const preparedSample = (name: string): PreparedModule => prepared.get(name) as PreparedModule
  beforeAll(async () => {
    const runtime = await openRuntime()
    for (const name of ['asking-c', 'asking-as'])
      prepared.set(name, await runtime.prepareModule(sample(name)))
    await runtime.close()
  }, 120_000)

  it.each([
    ['C', 'asking-c', '_start'],
    ['AssemblyScript', 'asking-as', 'total'],
  ])(
    'in %s go on in another runtime from the middle of a call, to the same end',
    async (_language, name, entry) => {
      const module = preparedSample(name)
      const options = { args: ['5'], entry, seed: SEED, grants: ['prices.lookup'], stateDigest: true }
      const open = (capabilities: Capability[], store = createMemoryRunStore()): Promise<Runtime> =>
        openRuntime({ capabilities, store, clock: CLOCK, checkpoints: { every: { calls: 1 } } })

      const whole = await open([prices([])])
      const uninterrupted = await whole.runModule(module, { ...options, run: 'asking' })
      await whole.close()

      const store = createMemoryRunStore()
      const first = await open([prices([])], store)
      const stopped = await first.runModule(module, { ...options, run: 'asking', stopAtCall: 3 })
      expect(stopped).toMatchObject({
        status: 'suspended',
        resumable: true,
        pending: [{ args: { sku: 'p2' } }],
      })
      expect(stopped.checkpoint).toMatch(/^sha256:/)
      await first.close()

      const asked: number[] = []
      const second = await open([prices(asked)], store)
      const { grants, stateDigest } = options
      const resumed = await second.resumeModule('asking', module, { grants, stateDigest })
      await second.close()
      expect(asked).toEqual([2, 3, 4])
      expect(resultOf(resumed)).toEqual(resultOf(uninterrupted))
      expect(resumed.stateDigest).toBe(uninterrupted.stateDigest)
      expect(resumed.usage.fuel).toBe(uninterrupted.usage.fuel)
      if (name === 'asking-c') expect(printed(resumed)).toMatch(/together 60\n$/)
    },
  )

  it('are gone on with by no other module', async () => {
    const store = createMemoryRunStore()
    const runtime = await openRuntime({ capabilities: [prices([])], store, clock: CLOCK })
    const options = { grants: ['prices.lookup'] }
    await runtime.runModule(preparedSample('asking-c'), { ...options, run: 'r', stopAtCall: 1 })
    await expect(runtime.resumeModule('r', preparedSample('asking-as'), options)).rejects.toMatchObject({
      code: 'engine_mismatch',
    })
    await expect(runtime.resume('r', options)).rejects.toMatchObject({ code: 'engine_mismatch' })
    await runtime.close()
  })
})
