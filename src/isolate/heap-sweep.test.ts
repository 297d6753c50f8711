import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { PAGE_BYTES } from '../snapshot/page-tree.ts'
import { baseImageOf } from './base-image.ts'
import { parseEngine } from './engine.ts'
import { ENGINE_MANIFEST } from './engine-manifest.ts'
import { SteppedRun } from './heap-sweep.testkit.ts'
import { sweepFreed } from './heap-sweep.ts'
import { InstancePool } from './instance-pool.ts'
import { base, engine, openPool } from './isolate.testkit.ts'

const pool = openPool()
const portableEngine = parseEngine({
  manifest: ENGINE_MANIFEST,
  module: new WebAssembly.Module(
    readFileSync(new URL('../../engines/current/portable.wasm', import.meta.url)),
  ),
  guest: engine.guest,
  profile: 'portable',
})
const portable = new InstancePool({
  engine: portableEngine,
  base: baseImageOf(portableEngine),
  maxPages: 4_096,
  keep: 2,
  monotonic: () => 0,
})
afterAll(() => {
  pool.close()
  portable.close()
})

/** A collection marks every object, those of the base image too: its pages are in the snapshot, and little else. */
const MARKED_BASE_BYTES = base.pages.pageCount * PAGE_BYTES

describe('what a guest freed', () => {
  it.each([
    ['200,000 objects', "Array.from({ length: 2e5 }, (_, i) => ({ i, name: 'object ' + i }))"],
    ['14 MB in one buffer', 'new Uint8Array(14e6).fill(7)'],
    ['14 MB in buffers', 'Array.from({ length: 1000 }, (_, i) => new Uint8Array(14e3).fill(i | 1))'],
    ['14 MB of text', "Array.from({ length: 1000 }, (_, i) => (i + 'xyz').repeat(2500))"],
    ['a large Map', 'new Map(Array.from({ length: 1e5 }, (_, i) => [i, { i }]))'],
  ])('weighs nothing in its snapshot: %s', (_, expression) => {
    const run = new SteppedRun(
      `let a = ${expression}; await world.ask(); a = null; await world.ask(); return 'ok'`,
      pool,
    )
    expect(run.snapshotBytes()).toBeGreaterThan(5e6)
    run.step()
    expect(run.snapshotBytes()).toBeLessThan(MARKED_BASE_BYTES + 2e4)
    run.step()
    expect(run.turn).toMatchObject({ status: 'completed', value: 'ok' })
    run.close()
  })

  it('weighs nothing when it is built and dropped inside of every turn', () => {
    const run = new SteppedRun(
      `const use = () => Array.from({ length: 5e4 }, (_, i) => ({ i })).length
       for (;;) { use(); await world.ask() }`,
      pool,
    )
    for (let i = 0; i < 4; i += 1) {
      expect(run.snapshotBytes()).toBeLessThan(MARKED_BASE_BYTES + 4e4)
      run.step()
    }
    run.close()
  })

  it('weighs a page or two where what stays lies in between', () => {
    const run = new SteppedRun(
      `let a = Array.from({ length: 1000 }, (_, i) => [new Uint8Array(14e3).fill(7), { i }])
       await world.ask()
       a = a.map((pair) => pair[1])
       await world.ask()
       return a.reduce((sum, { i }) => sum + i, 0)`,
      pool,
    )
    const before = run.snapshotBytes()
    run.step()
    expect(run.snapshotBytes()).toBeLessThan(before / 3)
    run.step()
    expect(run.turn).toMatchObject({ value: 499_500 })
    run.close()
  })

  it('is taken again for as much, with right contents', () => {
    const PARTS = `
      const build = () => Array.from({ length: 2e4 }, (_, i) => ({ i, s: 'n' + i, b: new Float64Array(8).fill(i) }))
      const third = (list) => list.filter(({ i }) => i % 3 === 0)
      const sum = (list) => list.reduce((n, { i, s, b }) => n + i + s.length + b[7], 0)`
    const fresh = new SteppedRun(`${PARTS}; return [sum(build()), sum(third(build()))]`, pool)
    const [all, some] = (fresh.turn as { value?: unknown }).value as [number, number]
    fresh.close()
    const run = new SteppedRun(
      `${PARTS}
       let keep = build()
       const sums = []
       for (let k = 0; k < 4; k++) {
         keep = k % 2 ? build() : third(keep)
         await world.ask()
         sums.push(sum(keep), sum(build()))
         if (new Uint8Array(3e6).includes(1)) throw new Error('not zero')
       }
       return sums`,
      pool,
    )
    while (run.waiting) run.step()
    expect(run.turn).toMatchObject({
      status: 'completed',
      value: [some, all, all, all, some, all, all, all],
    })
    run.close()
  })
})

describe('the sweep', () => {
  const CHURN = `
    const kinds = [
      (n) => Array.from({ length: n * 400 }, (_, i) => ({ i })),
      (n) => new Uint8Array(n * 2e4).fill(n),
      (n) => Array.from({ length: n }, (_, i) => new Uint8Array(5e3 + i).fill(i | 1)),
      (n) => new Map(Array.from({ length: n * 100 }, (_, i) => ['k' + i, [i]])),
      (n) => ('text' + n).repeat(n * 1000).split('t'),
    ]
    const kept = []
    for (const [kind, n, drop] of plan) {
      kept.push(kinds[kind](n))
      if (drop < kept.length) kept.splice(drop, 1)
      if (drop === 7) kept.length = 0
      await world.ask()
    }
    return kept.map((one) => one.size ?? one.length)`
  const plans = fc.array(fc.tuple(fc.nat(4), fc.integer({ min: 1, max: 40 }), fc.nat(7)), {
    minLength: 2,
    maxLength: 6,
  })
  const finish = (run: SteppedRun, at: (step: number) => void = () => {}): unknown => {
    for (let step = 0; run.waiting; step += 1) {
      at(step)
      run.step()
    }
    const end = { turn: run.turn, digest: run.digest }
    run.close()
    return end
  }

  it('happens at the same moments however often a guest is captured and moved: same fuel, result and digest', () => {
    fc.assert(
      fc.property(plans, fc.array(fc.constantFrom('go', 'capture', 'move', 'digest')), (plan, acts) => {
        const source = `const plan = ${JSON.stringify(plan)}; ${CHURN}`
        const straight = finish(new SteppedRun(source, pool))
        const run = new SteppedRun(source, pool)
        const moved = finish(run, (step) => {
          const act = acts[step % Math.max(1, acts.length)] ?? 'move'
          if (act === 'capture') run.snapshotBytes()
          if (act === 'move') run.move(pool)
          if (act === 'digest') expect(run.digest).toMatch(/^sha256:/)
        })
        expect(moved).toEqual(straight)
      }),
      { numRuns: 12, seed: 20_260_101 },
    )
  })

  it('is the same in both profiles of the engine, also for a guest that goes back and forth', () => {
    const plan = [
      [0, 60, 7],
      [2, 60, 9],
      [1, 60, 0],
      [3, 60, 7],
      [4, 60, 0],
    ]
    const source = `const plan = ${JSON.stringify(plan)}; ${CHURN}`
    const straight = finish(new SteppedRun(source, pool))
    expect(finish(new SteppedRun(source, portable))).toEqual(straight)
    const run = new SteppedRun(source, pool)
    expect(finish(run, (step) => run.move(step % 2 ? pool : portable))).toEqual(straight)
  })

  it('leaves nothing for a second one', () => {
    const run = new SteppedRun(
      'let a = new Uint8Array(5e6).fill(1); await world.ask(); a = 0; await world.ask()',
      pool,
    )
    run.step()
    const memory = run.pooled.instance.bytes.slice()
    const look = sweepFreed(run.pooled.instance)
    expect(Buffer.compare(run.pooled.instance.bytes, memory)).toBe(0)
    expect(sweepFreed(run.pooled.instance)).toBe(look)
    expect(look).toBeLessThan(100_000)
    run.close()
  })

  it('is paid for by the guest, by what there is to zero', () => {
    const fuelOf = (drop: string): number => {
      const run = new SteppedRun(
        `let a = new Uint8Array(5e6).fill(1); await world.ask(); ${drop}; await world.ask()`,
        pool,
      )
      run.step()
      run.close()
      return run.turn.usage.fuel
    }
    const swept = fuelOf('a = 0') - fuelOf('let b = 0')
    expect(swept).toBeGreaterThan(5e6)
    expect(swept).toBeLessThan(5e7)
  })

  it('asks nothing of a guest whose heap fits into the first size of its memory', () => {
    const run = new SteppedRun("let a = 'x'.repeat(9e4); await world.ask(); a = 0; await world.ask()", pool)
    run.step()
    expect(sweepFreed(run.pooled.instance)).toBe(0)
    run.close()
  })
})
