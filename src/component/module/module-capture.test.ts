import { describe, expect, it } from 'vitest'
import type { MachineCapture } from '../../machine/turn.ts'
import { decodeCanonical } from '../../values/decode-canonical.ts'
import { encodeCanonical } from '../../values/encode-canonical.ts'
import { bytes, codeOf, FOREVER, NOW, openModule, sample, text } from './module.testkit.ts'
import type { ModuleResult } from './module-end.ts'
import type { ModuleState } from './module-state.ts'

const code = codeOf(sample('command-c'))
const program = {
  args: ['command', 'sleep', '1500'],
  directories: [{ guestPath: '/d', writable: true, files: { a: bytes('given') } }],
}
const CAPABILITIES = [{ name: 'a.b', sync: false }]

function sleeping(): { capture: MachineCapture; digest: string; end: string; fuel: number } {
  const { machine, start } = openModule(code, { program, capabilities: CAPABILITIES })
  machine.start(start, FOREVER)
  const capture = machine.capture()
  const digest = machine.stateDigest()
  const end = machine.settle([], NOW + 2_000, FOREVER)
  return { capture, digest, end: machine.stateDigest(), fuel: end.usage.fuel }
}

describe('a captured module', () => {
  it('goes on elsewhere, to the same end (invariant 3)', () => {
    const { capture, digest, end, fuel } = sleeping()
    const state = decodeCanonical(encodeCanonical(capture.state))
    const { machine, start } = openModule(code, { program })
    machine.restore({ ...capture, state, capabilities: CAPABILITIES, limits: start.limits })
    expect(machine.wakeAtMs).toBeGreaterThan(NOW + 1_500)
    expect(machine.stateDigest()).toBe(digest)
    expect(machine.capture().changes).toEqual([])
    const turn = machine.settle([], NOW + 2_000, FOREVER)
    expect(text(((turn.status === 'completed' && turn.value) as ModuleResult).stdout)).toBe('2000\n')
    expect(machine.stateDigest()).toBe(end)
    expect(turn.usage.fuel).toBe(fuel)
  })

  it('may have constants with arithmetic, and no NaN in a global, whose bits no host is given', () => {
    const sleeper = (value: string): string => `(module
      (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (global $twelve i32 (i32.add (i32.const 5) (i32.const 7)))
      (global $kept (mut f64) (f64.const 0))
      (func (export "_start")
        (global.set $kept (f64.reinterpret_i64 (i64.const ${value})))
        (i32.store (i32.const 16) (i32.const 1))
        (i64.store (i32.const 24) (i64.const 1000000000))
        (drop (call $poll (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 200)))
        (i32.store (i32.const 300) (global.get $twelve))))`
    const waiting = (value: string): ReturnType<typeof openModule> => {
      const opened = openModule(codeOf(sleeper(value)))
      expect(opened.machine.start(opened.start, FOREVER).status).toBe('waiting')
      return opened
    }
    const { machine, start } = waiting('0x7ff0000000000000')
    const again = openModule(codeOf(sleeper('0x7ff0000000000000')))
    again.machine.restore({ ...machine.capture(), capabilities: [], limits: start.limits })
    expect(again.machine.stateDigest()).toBe(machine.stateDigest())
    for (const one of [machine, again.machine]) one.settle([], NOW + 2_000, FOREVER)
    expect(again.machine.stateDigest()).toBe(machine.stateDigest())
    expect(() => waiting('0x7ff4000000000000').machine.capture()).toThrow(/keeps a NaN in a global/)
  })

  it('that was refused memory ends so later, also elsewhere', () => {
    const refused = codeOf(`(module
      (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1)
      (func (export "_start")
        (loop $l (br_if $l (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
        (i32.store (i32.const 16) (i32.const 1))
        (i64.store (i32.const 24) (i64.const 1000000000))
        (drop (call $poll (i32.const 0) (i32.const 100) (i32.const 1) (i32.const 200)))
        unreachable))`)
    const { machine, start } = openModule(refused)
    expect(machine.start(start, FOREVER).status).toBe('waiting')
    const again = openModule(refused)
    again.machine.restore({ ...machine.capture(), capabilities: [], limits: start.limits })
    for (const one of [machine, again.machine])
      expect(one.settle([], NOW + 2_000, FOREVER)).toMatchObject({ status: 'exhausted', limit: 'memory' })
  })

  it('is refused with other capabilities', () => {
    const { capture } = sleeping()
    const { machine, start } = openModule(code)
    expect(() => machine.restore({ ...capture, capabilities: [], limits: start.limits })).toThrow(
      /Missing now: a\.b/,
    )
  })

  it('is refused where it contradicts itself', () => {
    const { capture } = sleeping()
    const state = capture.state as ModuleState
    const wrong: readonly unknown[] = [
      null,
      { ...state, version: 2 },
      { ...state, seed: new Uint8Array(3) },
      { ...state, program: { ...state.program, args: [1] } },
      {
        ...state,
        program: { ...state.program, directories: [{ guestPath: '/d', writable: true, files: [] }] },
      },
      { ...state, untilNs: null },
      { ...state, phase: 9 },
      { ...state, memoryRefused: 1 },
      { ...state, core: { ...state.core, suspended: null } },
      { ...state, wasi: { ...state.wasi, version: 7 } },
      { ...state, wasi: { ...state.wasi, descriptors: null } },
      { ...state, calls: { ...state.calls, count: -1 } },
    ]
    for (const [at, one] of wrong.entries()) {
      const { machine, start } = openModule(code)
      const restore = (): void =>
        machine.restore({ ...capture, state: one, capabilities: CAPABILITIES, limits: start.limits })
      expect(restore, String(at)).toThrow(expect.objectContaining({ code: 'corrupted' }))
    }
  })
})
