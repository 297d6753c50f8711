import { describe, expect, it } from 'vitest'
import { assemble, exported, instantiate } from './assemble.testkit.ts'
import { openMetered } from './metered.testkit.ts'
import { countBlocks, readBlockCounts } from './profile.ts'

const WASM = assemble(
  `(module
  (import "env" "f" (func $f))
  (func $pair (param i32) (result i32 i32) (i32.const 1) (i32.const 2) (br_if 0 (local.get 0)))
  (func (export "run") (param $n i32)
    (loop $l
      (if (i32.and (local.get $n) (i32.const 1)) (then (call $f)))
      (drop (drop (call $pair (i32.const 0))))
      (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))`.replace(
    '(drop (drop (call $pair (i32.const 0))))',
    '(call $pair (i32.const 0)) (drop) (drop)',
  ),
)

describe('countBlocks', () => {
  const counting = countBlocks(WASM)
  const imports = { env: { f: () => {} } }

  it('counts every block, and changes nothing else', () => {
    const instance = instantiate(counting.wasm, imports)
    exported(instance, 'run')(10)
    const counts = readBlockCounts(counting.layout, instance.exports)
    expect(counting.layout.functions.map(({ index }) => index)).toEqual([1, 2])
    const run = [...(counts.get(2) as Float64Array)]
    expect(run[0]).toBe(1)
    expect(run[1]).toBe(10)
    expect(run).toContain(5)
    expect(counts.get(1)?.[0]).toBe(10)
  })

  it('gives frequencies that move sites and no totals', () => {
    const instance = instantiate(counting.wasm, imports)
    exported(instance, 'run')(100)
    const frequencies = readBlockCounts(counting.layout, instance.exports)
    const [guessed, measured] = [openMetered(WASM, { imports }), openMetered(WASM, { imports, frequencies })]
    for (const run of [guessed, measured]) run.call('run', 77)
    expect(measured.used()).toBe(guessed.used())
  })

  it('refuses the counters of another module', () => {
    expect(() => readBlockCounts(counting.layout, {})).toThrowError(
      expect.objectContaining({ code: 'invalid_argument' }),
    )
  })
})
