/** What Caisson does in the suite `component`: through the public API, but where a case says otherwise. */
import { createMemoryPreparedStore } from '../../host-bindings/prepared/memory-prepared-store.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { readComponent } from '../../src/component/binary/read-component.ts'
import { openComponentInstance } from '../../src/component/component-instance.ts'
import { prepareCore } from '../../src/component/core/prepare-core.ts'
import { type PreparedComponent, prepareComponent } from '../../src/component/prepare-component.ts'
import type { Runtime } from '../../src/entry/node.ts'
import { parseLimits } from '../../src/machine/limits.ts'
import { DEPTH_IMPORT, FUEL_IMPORT, METER_NAMESPACE, REFILL_IMPORT } from '../../src/wasm/meter-options.ts'
import { openingTrial, type Trial } from '../harness/trial.ts'

export const CALLS = 2_000
/** Numbers that the loop in C goes over. */
const NUMBERS = 1_000_000
const FUEL = 2 ** 52
const monotonic = (): number => performance.now()

/** An export without arguments that gives two numbers, awaited through `call`. */
export async function callTrial(runtime: Runtime): Promise<Trial> {
  const component = await runtime.openComponent(await readSample('tool-c'), {
    interfaces: { $root: { hostCall: () => '' } },
    limits: { fuel: FUEL },
  })
  return {
    operations: CALLS,
    run: async () => {
      for (let index = 0; index < CALLS; index += 1) {
        const outcome = await component.call('totals')
        if (outcome.status !== 'completed' || (outcome.value as number[])[0] !== 0) throw new Error('wrong')
      }
      return undefined
    },
  }
}

/** An export with a text, which calls the host once with two, and gives a text. */
export async function hostCallTrial(runtime: Runtime): Promise<Trial> {
  const component = await runtime.openComponent(await readSample('tool-c'), {
    interfaces: { $root: { hostCall: (_name: string, json: string) => json } },
    limits: { fuel: FUEL },
  })
  return {
    operations: CALLS,
    run: async () => {
      for (let index = 0; index < CALLS; index += 1) {
        const outcome = await component.call('run', ['a'])
        const value = outcome.status === 'completed' ? (outcome.value as { val: string }).val : ''
        if (value !== '{"line":"a"}') throw new Error('wrong')
      }
      return undefined
    },
  }
}

/** A fresh instance of a prepared component of 79 KB in C, ready to be called. Below the public API: nothing of WASI answers. */
export async function instanceTrial(): Promise<Trial> {
  const options = { profile: 'v8', maxMemoryPages: 256 } as const
  const prepared: PreparedComponent = await prepareComponent(
    await readSample('wasi-probe-c'),
    options,
    monotonic,
  )
  const imports = { func: () => () => undefined, dropResource: () => {} }
  return openingTrial(
    () => openComponentInstance(prepared, { imports, limits: parseLimits({ fuel: FUEL }), monotonic }),
    (instance) => instance.dispose(),
  )
}

/** A component with QuickJS (1 MB) that was prepared before, opened from its cache: looked up, authenticated, compiled, linked. */
export async function cachedTrial(runtime: Runtime): Promise<Trial> {
  const bytes = await readSample('types-js')
  const cache = { store: createMemoryPreparedStore(), key: new Uint8Array(32).fill(7) }
  ;(await runtime.openComponent(bytes, { cache, limits: { fuel: FUEL } }))[Symbol.dispose]()
  return openingTrial(
    () => runtime.openComponent(bytes, { cache, limits: { fuel: FUEL } }),
    (component) => component[Symbol.dispose](),
  )
}

/** A loop in C over a million numbers (`reverse` of `types-c`), called in its core module. */
export async function loopTrial(isMetered: boolean): Promise<Trial> {
  const [core] = readComponent(await readSample('types-c')).modules
  if (core === undefined) throw new Error('no module')
  const imports = {
    [METER_NAMESPACE]: {
      [REFILL_IMPORT]: () => BigInt(FUEL),
      [FUEL_IMPORT]: new WebAssembly.Global({ value: 'i64', mutable: true }, BigInt(FUEL)),
      [DEPTH_IMPORT]: new WebAssembly.Global({ value: 'i32', mutable: true }, 1_000_000),
    },
  }
  const metered = (): Uint8Array =>
    prepareCore(core, { profile: 'v8', maxMemoryPages: 256, counters: 'shared' }).wasm
  const wasm = isMetered ? metered() : core
  const { exports } = new WebAssembly.Instance(
    new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>),
    imports,
  )
  const {
    memory,
    cabi_realloc: allocate,
    reverse,
  } = exports as Record<string, never> & {
    memory: WebAssembly.Memory
    cabi_realloc(old: number, oldSize: number, align: number, size: number): number
    reverse(items: number, length: number): number
  }
  const items = allocate(0, 0, 4, NUMBERS * 4)
  const numbers = new Uint32Array(memory.buffer, items, NUMBERS)
  for (let index = 0; index < NUMBERS; index += 1) numbers[index] = index
  let first = 0
  return {
    operations: 10,
    run: () => {
      for (let round = 0; round < 11; round += 1) reverse(items, NUMBERS)
      first = NUMBERS - 1 - first
      if (numbers[0] !== first) throw new Error('wrong')
      return undefined
    },
  }
}
