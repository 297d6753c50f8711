/** The start of a guest that goes on: what its session still asks for. The program itself is in its memory. */
import type { Gate } from '../capability/gate.ts'
import type { Limits } from '../machine/limits.ts'
import type { MachineStart } from '../machine/turn.ts'

export function goingOn(gate: Gate, limits: Limits): MachineStart {
  return {
    source: '',
    form: 'auto',
    fileName: '',
    input: undefined,
    capabilities: gate.capabilities,
    limits,
    seed: new Uint8Array(),
    nowMs: 0,
  }
}
