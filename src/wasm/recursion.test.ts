import { describe, expect, it } from 'vitest'
import { assemble } from './assemble.testkit.ts'
import { buildCallGraph, type CallGraph } from './call-graph.ts'
import { codeContext } from './code-context.ts'
import { parseModule } from './parse-module.ts'
import { cutRecursion, type RecursionCuts } from './recursion.ts'
import { scanModule } from './scan-module.ts'

function analyse(
  text: string,
  calls: Readonly<Record<number, number>> = {},
  importsMayCallBack = true,
): { readonly graph: CallGraph; readonly cuts: RecursionCuts; readonly frames: readonly number[] } {
  const module = parseModule(assemble(`(module ${text})`))
  const context = codeContext(module)
  const scan = scanModule(module, context)
  const graph = buildCallGraph(module, context, scan, importsMayCallBack)
  const counts = Float64Array.from(module.functions, (_, index) => calls[index] ?? 0)
  const cuts = cutRecursion(graph, scan.functions, counts)
  for (const [index, checked] of cuts.checked.entries()) {
    if (checked === 1) expect(cuts.counted[index]).toBe(1)
  }
  expectOrdered(graph, cuts)
  return { graph, cuts, frames: scan.functions.map(({ frameBytes }) => frameBytes) }
}

/** Invariants 1 and 3: callees that are not checked come first, so that there is no cycle among them. */
function expectOrdered(graph: CallGraph, cuts: RecursionCuts): void {
  const position = new Map<number, number>()
  for (const [at, node] of cuts.order.entries()) position.set(node, at)
  expect(position.size).toBe(graph.nodes)
  for (let node = 0; node < graph.nodes; node++) {
    for (let slot = graph.first[node] as number; slot < (graph.first[node + 1] as number); slot++) {
      const to = graph.list[slot] as number
      if (cuts.checked[to] !== 1) expect(position.get(to)).toBeLessThan(position.get(node) as number)
    }
  }
}

describe('cutRecursion', () => {
  it('leaves what cannot recur alone', () => {
    const { cuts } = analyse('(func $a (call $b)) (func $b (call $c)) (func $c)')
    expect([...cuts.counted]).toEqual([0, 0, 0])
  })

  it('cuts recursion by name, through tables and through the host', () => {
    expect([...analyse('(func $a (call $a))').cuts.checked]).toEqual([1])
    const table = analyse(
      '(table 1 funcref) (elem (i32.const 0) $a) (func $a (call $b)) (func $b (call_indirect (i32.const 0)))',
    )
    expect(table.cuts.checked.reduce((sum, cut) => sum + cut)).toBe(1)
    const host = '(import "h" "f" (func $h)) (func (export "a") (call $b)) (func $b (call $h))'
    expect(analyse(host).cuts.checked.reduce((sum, cut) => sum + cut)).toBe(1)
    expect([...analyse(host, {}, false).cuts.checked]).toEqual([0, 0])
  })

  it('knows which types a table call can mean', () => {
    const { cuts } = analyse(
      `(table 2 funcref) (elem (i32.const 0) $a $b)
      (func $a (param i32)) (func $b (call_indirect (param i32) (i32.const 1) (i32.const 0)))`,
      {},
      false,
    )
    expect([...cuts.counted]).toEqual([0, 0])
  })

  it('spares the function that is called most', () => {
    const ring = '(func $a (call $b)) (func $b (call $c)) (func $c (call $a))'
    expect([...analyse(ring, { 0: 1, 1: 1e6, 2: 1e6 }).cuts.checked]).toEqual([1, 0, 0])
    expect([...analyse(ring, { 0: 1e6, 1: 1e6, 2: 1 }).cuts.checked]).toEqual([0, 0, 1])
  })

  it('charges spared frames to those that count', () => {
    const { cuts, frames } = analyse('(func $a (call $b)) (func $b (call $a))', { 0: 1, 1: 1e6 })
    expect([...cuts.counted]).toEqual([1, 0])
    expect(cuts.weights[0]).toBe((frames[0] as number) + (frames[1] as number))
  })

  it('says how much stack is not counted', () => {
    const { cuts, frames } = analyse(
      '(func $a (call $a) (call $x)) (func $x (call $y)) (func $y (local i64 i64 i64))',
    )
    expect(cuts.uncounted).toBe((frames[1] as number) + (frames[2] as number))
  })

  it('lets no chain of spared functions grow long', () => {
    const length = 40
    const ring = Array.from({ length }, (_, at) => `(func $f${at} (call $f${(at + 1) % length}))`).join('')
    const calls = Object.fromEntries(Array.from({ length }, (_, at) => [at, 1000]))
    const { cuts, frames } = analyse(ring, calls)
    expect(cuts.checked.reduce((sum, cut) => sum + cut)).toBe(1)
    expect(Math.max(...cuts.weights)).toBeLessThanOrEqual((frames[0] as number) + 384)
  })
})
