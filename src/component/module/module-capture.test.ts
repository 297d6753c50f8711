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
