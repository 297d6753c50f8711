import { describe, expect, it } from 'vitest'
import { BULK_PRICES, fuelCost } from '../../../src/wasm/cost.ts'
import { ModuleBuilder } from '../corpus/module-builder.ts'
import { createRandomModule } from '../corpus/random-module.ts'
import { exposeState } from '../harness/expose-state.ts'
import { type Guest, type ImportFactory, openEngineGuest, openInterpretedGuest } from '../harness/guest.ts'
import { createLogImports, type Trace, trace } from '../harness/trace.ts'
import { chargeBlocks, SPENT_EXPORT } from './block-charger.ts'
import { FuelCount } from './fuel-count.ts'
import { OP } from './instruction.ts'
import { readModule, type WasmModule } from './module-reader.ts'

const NO_IMPORTS = () => ({})

function withoutFuel({ calls, state }: Trace): unknown {
  return { calls: calls.map(({ name, end, events }) => ({ name, end, events })), state }
}

/** Fuel of the calls whose count is defined: a trap may end a block half-way. */
function fuelOf({ calls }: Trace): unknown {
  return calls.map(({ name, end, fuel }) => (end === 'trapped' ? name : `${name} ${fuel}`))
}

/** The export that counts the fuel in modules that `chargeBlocks` made. */
const spentByBlocks = (guest: Guest): bigint => guest.readGlobal(SPENT_EXPORT) as bigint

/** What an interpreted module does, and its fuel as the interpreter counts it. */
function traceInterpreted(module: WasmModule, wasm: Uint8Array, count: FuelCount, seed: number): Trace {
  const open = (imports: ImportFactory): Guest => openInterpretedGuest(wasm, imports, count)
  return trace(module, { open, spent: () => BigInt(count.fuel) }, createLogImports, seed)
}

function countInterpreted(wasm: Uint8Array, name: string): FuelCount {
  const count = new FuelCount()
  openInterpretedGuest(wasm, NO_IMPORTS, count).invoke(name, [])
  return count
}

describe('the oracle', { timeout: 120_000 }, () => {
  it('may skip instructions that only give the code its shape, because they are free', () => {
    for (const opcode of [OP.end, OP.else, OP.catch, OP.catch_all, OP.delegate, OP.block, OP.try_table])
      expect(fuelCost(opcode)).toBe(0)
  })

  it('counts a loop by hand-made arithmetic', () => {
    const builder = new ModuleBuilder()
    const i = [OP.local_get, 0, 0x41, 1, 0x6b, OP.local_tee, 0, OP.br_if, 0]
    builder.export(
      'f',
      builder.function([], [], ['i32'], [0x41, 10, OP.local_set, 0, OP.loop, 0x40, ...i, OP.end]),
    )
    expect(countInterpreted(builder.build(), 'f').fuel).toBe(2 + 10 * 5)
  })

  it('charges bulk work by size when it succeeds and only its own price when it does not', () => {
    const builder = new ModuleBuilder()
    builder.memory(1, 2)
    const fill = (length: number[]) => [0x41, 0, 0x41, 0, 0x41, ...length, 0xfc, 11, 0]
    const grow = (pages: number) => [0x41, pages, OP.memory_grow, 0, OP.drop]
    builder.export('fill', builder.function([], [], [], fill([0xe8, 0x07])))
    builder.export('grow', builder.function([], [], [], grow(1)))
    builder.export('grow too far', builder.function([], [], [], grow(5)))
    const wasm = builder.build()
    const { 'memory.fill': fillPrice, 'memory.grow': growPrice } = BULK_PRICES
    const own = fuelCost(fillPrice.opcode)
    expect(countInterpreted(wasm, 'fill').fuel).toBe(3 + own + 1_000 * fillPrice.fuelPerUnit)
    const ownGrow = fuelCost(growPrice.opcode) + 2
    expect(countInterpreted(wasm, 'grow').fuel).toBe(ownGrow + growPrice.fuelPerUnit)
    expect(countInterpreted(wasm, 'grow too far').fuel).toBe(ownGrow)
  })

  it.each([
    ['scalars', { exceptions: 'none', vectors: false }],
    ['vectors', { exceptions: 'none', vectors: true }],
    ['legacy exceptions', { exceptions: 'legacy', vectors: true }],
  ] as const)(
    'agrees with the engine on behaviour and with plain block charging on fuel: %s',
    (_, options) => {
      for (let seed = 0; seed < 12; seed++) {
        const wasm = exposeState(createRandomModule(seed, options))
        const module = readModule(wasm)
        const charged = chargeBlocks(wasm)
        const count = new FuelCount()
        const interpreted = traceInterpreted(module, wasm, count, seed)
        const plain = trace(
          module,
          { open: (imports) => openEngineGuest(wasm, imports), spent: () => 0n },
          createLogImports,
          seed,
        )
        const blocks = trace(
          module,
          { open: (imports) => openEngineGuest(charged, imports), spent: spentByBlocks },
          createLogImports,
          seed,
        )
        expect(withoutFuel(interpreted), `seed ${seed}`).toEqual(withoutFuel(plain))
        expect(withoutFuel(blocks), `seed ${seed}`).toEqual(withoutFuel(plain))
        expect(fuelOf(blocks), `seed ${seed}`).toEqual(fuelOf(interpreted))
      }
    },
  )

  it('runs exception references, also where the engine cannot', () => {
    const seen = new Set<number>()
    for (let seed = 0; seed < 20; seed++) {
      const wasm = exposeState(createRandomModule(seed, { exceptions: 'exnref', vectors: true }))
      const module = readModule(wasm)
      const count = new FuelCount()
      const interpreted = traceInterpreted(module, wasm, count, seed)
      const charged = chargeBlocks(wasm)
      const blocks = trace(
        module,
        { open: (imports) => openInterpretedGuest(charged, imports), spent: spentByBlocks },
        createLogImports,
        seed,
      )
      expect(withoutFuel(blocks), `seed ${seed}`).toEqual(withoutFuel(interpreted))
      expect(fuelOf(blocks), `seed ${seed}`).toEqual(fuelOf(interpreted))
      for (const opcode of count.opcodes.keys()) seen.add(opcode)
    }
    expect([...seen]).toEqual(expect.arrayContaining([OP.try_table, OP.throw, OP.throw_ref]))
  })
})
