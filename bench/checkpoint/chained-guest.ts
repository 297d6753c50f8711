/**
 * A guest of Caisson with a chain of checkpoints, out of the parts that a kept run is made of, so that each of them
 * can be timed: the gate, a stepper over a parkable isolate, and `Checkpoints`.
 */
import { fileEngine } from '../../host-bindings/engines/file-engine.node.ts'
import { nodeCheckpointPorts } from '../../host-bindings/system/checkpoint-ports.node.ts'
import { nodePageTools } from '../../host-bindings/system/page-tools.node.ts'
import { systemClock } from '../../host-bindings/system/system-clock.ts'
import { systemEntropy } from '../../host-bindings/system/system-entropy.ts'
import type { Digest } from '../../src/base/digest.ts'
import { Ledger } from '../../src/capability/budget.ts'
import { createCapabilityTable } from '../../src/capability/capability-table.ts'
import { createGate } from '../../src/capability/gate.ts'
import { grantSet } from '../../src/capability/grant-set.ts'
import { type Capability, capability } from '../../src/entry/node.ts'
import { ENGINE_MANIFEST } from '../../src/isolate/engine-manifest.ts'
import { type Limits, parseLimits } from '../../src/machine/limits.ts'
import { Stepper } from '../../src/machine/stepper.ts'
import type { Machine, MachineStart } from '../../src/machine/turn.ts'
import { Checkpoints, type WrittenCheckpoint } from '../../src/runtime/checkpoints.ts'
import { MachineMaker } from '../../src/runtime/machine-maker.ts'
import type { Platform } from '../../src/runtime/platform.ts'
import type { CheckpointKeys } from '../../src/snapshot/container/checkpoint-keys.ts'

/** Far above what a bench uses up: what is measured is that they are counted. */
export const LIMITS: Partial<Limits> = {
  fuel: 2 ** 52,
  calls: 2 ** 31,
  bytesOut: 2 ** 31,
  bytesIn: 2 ** 31,
  wallMs: 86_400_000,
  idleMs: 86_400_000,
  memoryBytes: 64 * 2 ** 20,
}

/** A key to authenticate checkpoints with. */
export const MAC_KEY: CheckpointKeys = {
  mac: { current: { id: 'bench', bytes: new Uint8Array(32).fill(7) } },
}

/** What guests wait on. Never invoked: the bench settles it by hand. */
export const nextStep: Capability = capability({
  name: 'bench.next',
  description: 'Ends a step of the bench and waits for the next one',
  effect: 'read',
  invoke: () => Promise.reject(new Error('settled by hand')),
})

/** Links of the longest chain, as kept runs have them by default. */
export const CHAIN_LINKS = 16

const MAX_MEMORY_BYTES = 256 * 2 ** 20
const OWNER = { tenant: 'default', run: 'bench', principal: '', label: 'plain' } as const

export class ChainedGuest {
  readonly #checkpoints: Checkpoints
  readonly #machines: MachineMaker
  readonly #machine: Machine
  readonly #start: MachineStart
  readonly #stepper: Stepper
  readonly #chain = new Map<Digest, Uint8Array>()
  #pages: WrittenCheckpoint['pages']
  #written: WrittenCheckpoint | undefined
  #sequence = 0

  /** Runs `source` to its first wait. @param keys what its checkpoints are protected with */
  static async start(source: string, keys: CheckpointKeys = MAC_KEY): Promise<ChainedGuest> {
    const engines = fileEngine({
      folder: new URL('../../engines/', import.meta.url),
      manifest: ENGINE_MANIFEST,
      profile: 'v8',
    })
    const platform: Platform = {
      clock: systemClock,
      entropy: systemEntropy,
      checkpoints: nodeCheckpointPorts,
      pageTools: nodePageTools,
      engines,
    }
    const loaded = await engines.load(ENGINE_MANIFEST.id)
    const machines = new MachineMaker(platform, {}, loaded, MAX_MEMORY_BYTES)
    const table = createCapabilityTable([nextStep])
    const gate = createGate({
      clock: systemClock,
      grants: grantSet(table, ['bench.next']),
      ledger: new Ledger(),
      guestId: 'bench-1',
    })
    const start: MachineStart = {
      source,
      form: 'script',
      fileName: 'program.js',
      input: undefined,
      capabilities: gate.capabilities,
      limits: parseLimits(LIMITS),
      seed: new Uint8Array(32),
      nowMs: 0,
    }
    const machine = await machines.open({}, start.limits, gate.sync)
    const stepper = await Stepper.start({ machine, start, gate, clock: systemClock })
    const checkpoints = new Checkpoints(platform.checkpoints, { keys }, machines.engine.id, machines.base)
    return new ChainedGuest(checkpoints, machines, machine, start, stepper)
  }

  private constructor(
    checkpoints: Checkpoints,
    machines: MachineMaker,
    machine: Machine,
    start: MachineStart,
    stepper: Stepper,
  ) {
    this.#checkpoints = checkpoints
    this.#machines = machines
    this.#machine = machine
    this.#start = start
    this.#stepper = stepper
    this.#pages = checkpoints.basePages
  }

  /** Links of the last checkpoint. */
  get links(): number {
    return this.#written?.links ?? 0
  }

  /** Bytes of the pages that are not zeros, at the last checkpoint. */
  get liveBytes(): number {
    return this.#pages.pageCount * 4_096
  }

  async step(): Promise<void> {
    const [call] = this.#stepper.pending
    if (call === undefined) throw new Error(`the guest ended: ${JSON.stringify(this.#stepper.outcome)}`)
    await this.#stepper.settle(call.id, 1)
  }

  /** The next checkpoint stands alone. */
  endChain(): void {
    this.#written = undefined
    this.#chain.clear()
  }

  /** Captures the guest and writes it against the checkpoint before, or alone. */
  async checkpoint(): Promise<Uint8Array> {
    const { machine, session } = await this.#stepper.capture()
    this.#pages = this.#pages.with(machine.changes)
    this.#sequence += 1
    const { memoryBytes, state } = machine
    const { limits } = this.#start
    const { id, bytes, written } = await this.#checkpoints.write(
      {
        memoryBytes,
        pages: this.#pages,
        state: { guestId: 'bench-1', limits, session, machine: state },
      },
      OWNER,
      this.#sequence,
      0,
      this.#written,
    )
    this.#written = written
    this.#chain.set(id, bytes)
    return bytes
  }

  /** Reads a checkpoint of the chain and puts the guest into another instance, which is then given back. */
  async restore(head: Uint8Array): Promise<void> {
    const read = await this.#checkpoints.read(head, OWNER, (id) => Promise.resolve(this.#chain.get(id)))
    const { capabilities, limits } = this.#start
    const machine = await this.#machines.open({}, limits, { call: () => undefined })
    await machine.restore({
      memoryBytes: read.memoryBytes,
      changes: read.pages.changesSince(this.#checkpoints.basePages),
      state: read.state.machine,
      capabilities,
      limits,
    })
    if (machine.pending.length !== 1) throw new Error('the restored guest does not wait')
    machine.dispose()
  }

  dispose(): void {
    this.#stepper.abort()
    this.#machine.dispose()
    void this.#machines.close()
  }
}
