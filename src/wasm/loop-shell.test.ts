import { describe, expect, it } from 'vitest'
import { assemble } from './assemble.testkit.ts'
import { codeContext } from './code-context.ts'
import { decodeBody } from './decode-body.ts'
import { DecodedBody } from './decoded-body.ts'
import { meter } from './meter.ts'
import { OP } from './opcode-table.ts'
import { parseModule } from './parse-module.ts'

/** The control instructions of the exported function, with the depth of loops at each. */
function shape(text: string): readonly [name: string, loops: number][] {
  const module = parseModule(meter(assemble(text), { profile: 'v8' }).wasm)
  const run = module.exports.find(({ name }) => name === 'run')?.index ?? -1
  const context = codeContext(module)
  const source = module.bodies[run - context.importedFunctions]
  if (source === undefined) throw new Error('no function "run"')
  const body = new DecodedBody()
  decodeBody(context, source, run, body)
  const found: [string, number][] = []
  const open: number[] = []
  for (let at = 0; at < body.length; at++) {
    const opcode = body.opcodes.at(at)
    const loops = open.filter((opener) => opener === OP.loop).length
    if (opcode === OP.call) found.push(['call', loops])
    if (opcode === OP.loop) found.push(['loop', loops])
    if (opcode === OP.block || opcode === OP.loop || opcode === OP.if || opcode === OP.try) open.push(opcode)
    if (opcode === OP.end) open.pop()
  }
  return found
}

const COUNTDOWN = '(br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1))))'

describe('a shell', () => {
  it('takes the refill out of a tight loop (invariant 1)', () => {
    expect(shape(`(module (func (export "run") (param $n i32) (loop $l ${COUNTDOWN})))`)).toEqual([
      ['loop', 0],
      ['loop', 1],
      ['call', 1],
    ])
  })

  it('stands around innermost loops only (invariant 3)', () => {
    const nested = `(loop $o (loop $l ${COUNTDOWN}) (br_if $o (local.get $m)))`
    const found = shape(`(module (func (export "run") (param $n i32) (param $m i32) ${nested}))`)
    expect(found.filter(([name]) => name === 'loop')).toHaveLength(3)
    expect(found).toContainEqual(['call', 2])
  })

  it('does not stand around loops that call, or in functions that catch (invariant 3)', () => {
    const calling = `(loop $l (call $f) ${COUNTDOWN})`
    const caught = `(try (do (loop $l ${COUNTDOWN})) (catch_all))`
    for (const code of [calling, caught]) {
      const found = shape(`(module (import "" "f" (func $f)) (func (export "run") (param $n i32) ${code}))`)
      expect(found.filter(([name]) => name === 'loop')).toHaveLength(1)
    }
  })
})
