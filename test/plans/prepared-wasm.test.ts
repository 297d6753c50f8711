/** WebAssembly that plans name is prepared once, for all processes that share a cache and its key. */
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createMemoryPreparedStore } from '../../host-bindings/prepared/memory-prepared-store.ts'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { sha256 } from '../../src/base/digest.ts'
import {
  type Capability,
  openRuntime,
  type Plan,
  type PlanNode,
  type PreparedStore,
  type Runtime,
} from '../../src/entry/node.ts'

const WASM = { component: await readSample('tool-c'), module: await readSample('asking-c') }
const opened: Runtime[] = []
afterAll(() => Promise.all(opened.map((runtime) => runtime.close())))

/** Processes that share a store of runs, and one of what was prepared. */
class World {
  readonly runs = createMemoryRunStore()
  readonly entries = new Map<string, Uint8Array>()
  puts = 0
  hits = 0
  readonly #memory = createMemoryPreparedStore()

  readonly #prepared: PreparedStore = {
    get: async (name, most) => {
      const found = await this.#memory.get(name, most)
      if (found !== undefined) this.hits += 1
      return found
    },
    put: async (name, bytes) => {
      this.puts += 1
      this.entries.set(name, new Uint8Array(bytes))
      await this.#memory.put(name, bytes)
    },
  }

  /** Changes a byte in the middle of all that is kept. */
  async damage(): Promise<void> {
    for (const [name, bytes] of this.entries) {
      const at = bytes.length >> 1
      bytes[at] = (bytes[at] ?? 0) ^ 1
      await this.#memory.put(name, bytes)
    }
  }

  async process(key = 7): Promise<Runtime> {
    const capability = (name: string, answer: (input: never) => unknown): Capability =>
      ({
        name,
        description: 'Answers what it is asked.',
        effect: 'read',
        idempotent: true,
        invoke: async (input: unknown) => answer(input as never),
      }) as Capability
    const runtime = await openRuntime({
      store: this.runs,
      preparedCache: { store: this.#prepared, key: new Uint8Array(32).fill(key) },
      capabilities: [
        capability('hostCall', ({ arguments: said }: { arguments: string }) => `said ${said}`),
        capability('prices.lookup', ({ sku }: { sku: string }) => Number(sku.slice(1)) + 10),
      ],
    })
    opened.push(runtime)
    return runtime
  }
}

const NODES: Readonly<Record<keyof typeof WASM, PlanNode>> = {
  component: {
    kind: 'component',
    wasm: sha256(WASM.component),
    export: 'run',
    args: ['a'],
    grants: [{ capability: 'hostCall', approve: true }],
  },
  module: {
    kind: 'module',
    wasm: sha256(WASM.module),
    args: ['1'],
    grants: [{ capability: 'prices.lookup', approve: true }],
  },
}
const OUTPUT = {
  component: 'said {"line":"a"}',
  module: { exitCode: 0, stdout: 'p0 costs 10\ntogether 10\n' },
}

vi.setConfig({ testTimeout: 180_000 })

describe.each(['component', 'module'] as const)('a %s of a plan', (kind) => {
  const node = NODES[kind]
  const [grant] = 'grants' in node ? (node.grants ?? []) : []
  const plan = {
    format: 'plan/1',
    name: 'prepared',
    version: '1',
    grants: [grant],
    nodes: { one: node },
    output: { $from: 'one' },
  } as Plan

  async function begun(world: World): Promise<void> {
    const runtime = await world.process()
    const run = await runtime.propose(plan, { by: 'test', run: 'r', wasm: [WASM[kind]] })
    await run.approve({ by: 'test', digest: (await run.view()).request })
    await run.start({ by: 'test' })
    expect(await run.outcome()).toMatchObject({ status: 'waiting' })
    await runtime.close()
  }

  async function wentOn(runtime: Runtime): Promise<void> {
    const run = await runtime.planRun('r')
    const [open] = await run.requests()
    await run.decide({ request: open?.digest as never, by: 'ann', decision: 'approve' })
    await run.resume({ by: 'test' })
    expect(await run.outcome()).toMatchObject({ status: 'completed', output: OUTPUT[kind] })
  }

  test('is prepared by the process that begins it, and taken from the cache by those that go on and verify', async () => {
    const world = new World()
    await begun(world)
    const { puts } = world
    expect(puts).toBeGreaterThan(0)
    expect(world.hits).toBe(0)
    await wentOn(await world.process())
    expect(world.puts).toBe(puts)
    expect(world.hits).toBeGreaterThan(0)
    expect(await (await world.process()).verify('r')).toMatchObject({ ok: true, executed: 1, unchecked: [] })
    expect(world.puts).toBe(puts)
  })

  test('is prepared anew where the cache was changed, or has another key', async () => {
    const world = new World()
    await begun(world)
    const { puts } = world
    await world.damage()
    await wentOn(await world.process())
    expect(world.puts).toBe(2 * puts)
    expect(await (await world.process(8)).verify('r')).toMatchObject({ ok: true, executed: 1 })
    expect(world.puts).toBe(3 * puts)
  })
})

test('a cache that is none is refused before anything is opened', async () => {
  const store = createMemoryPreparedStore()
  for (const preparedCache of [
    { store, key: new Uint8Array(31) },
    { store },
    { key: new Uint8Array(32) },
    'x',
    null,
  ])
    await expect(openRuntime({ preparedCache: preparedCache as never })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('preparedCache'),
    })
})
