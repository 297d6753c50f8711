/**
 * A world for runs of plans that die: tools whose effects are counted by their keys, a clock that jumps, and processes
 * that are killed after so many writes of their store.
 *
 * Everything between the plan and the tools is the real thing: the gate, the journal, the runner, the store. Programs are
 * the one stand-in: they are evaluated here, as starting an engine for each would take all the time there is.
 */
import { compileFunction } from 'node:vm'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { Ledger } from '../../../src/capability/budget.ts'
import { createCapabilityTable } from '../../../src/capability/capability-table.ts'
import { createGate } from '../../../src/capability/gate.ts'
import { grantSet } from '../../../src/capability/grant-set.ts'
import { toolDigest } from '../../../src/capability/tool-digest.ts'
import {
  CaissonError,
  type Capability,
  capability,
  type Outcome,
  type RunStore,
} from '../../../src/entry/node.ts'
import { PlanRuns } from '../../../src/runtime/plans/plan-runs.ts'
import { watchedStore } from '../../../src/runtime/watched-store.ts'

/** One effect, as the service has it that the tool stands for. */
export interface Effect {
  readonly tool: string
  times: number
  readonly value: string
}

/** A process that may die. */
export interface Process {
  readonly runs: PlanRuns
  readonly hasDied: boolean
}

/** Tools, by their names; those of which a call may be made again without asking. */
export const REPEATABLE: ReadonlySet<string> = new Set(['world.read', 'world.put'])

export class World {
  readonly store: RunStore = createMemoryRunStore()
  readonly effects: Map<string, Effect> = new Map()
  /** One call of so many fails, by its number; 0: none does. */
  readonly failing: number
  #offsetMs = 0
  #calls = 0
  #names = 0

  constructor(failing: number) {
    this.failing = failing
  }

  /** The clock of every process: it may be set back, too. */
  jump(ms: number): void {
    this.#offsetMs += ms
  }

  readonly now: () => number = () => Math.max(1, 1_700_000_000_000 + this.#offsetMs + performance.now())

  /** @param writes after so many its store fails, and with it the process */
  open(writes: number): Process {
    const life = { writes, died: false }
    const table = createCapabilityTable(this.#tools(life))
    const clock = { now: this.now, monotonic: () => performance.now() }
    const ledger = new Ledger()
    const runs = new PlanRuns({
      store: watchedStore(dying(this.store, life)),
      leaseMs: 60_000,
      states: false,
      scope: [],
      // After so few that there are many, and that most runs go on from one.
      imageEvery: { records: 5 },
      engine: 'none',
      sealing: { ports: nodeCheckpointPorts },
      signatures: undefined,
      hostClock: clock,
      entropy: { bytes: (length) => this.#bytes(length) },
      tools: (names) => Object.fromEntries(names.map((name) => [name, toolDigest(table.get(name))])),
      openGate: (grants, options) =>
        createGate({ grants: grantSet(table, grants), ledger, clock, ...options }),
      runProgram: async (source, { input }) => evaluated(source, input),
      startOf: async () => {
        throw new CaissonError('not_found', 'No program of these plans is kept.')
      },
      resumeProgram: async () => {
        throw new CaissonError('not_found', 'No program of these plans is kept.')
      },
      repeatProgram: async () => {
        throw new CaissonError('not_found', 'No program of these plans is kept.')
      },
      inspect: async () => {
        throw new CaissonError('not_found', 'Nor is there a checkpoint of one.')
      },
      tookBefore: async () => undefined,
      wasmCheck: async () => {
        throw new CaissonError('not_found', 'No WebAssembly is in these plans.')
      },
      wasm: {
        modules: async () => {
          throw new CaissonError('not_found', 'No module is in these plans.')
        },
        components: async () => {
          throw new CaissonError('not_found', 'No component is in these plans.')
        },
      },
    })
    return {
      runs,
      get hasDied() {
        return life.died
      },
    }
  }

  #bytes(length: number): Uint8Array {
    this.#names += 1
    const bytes = new Uint8Array(length)
    new DataView(bytes.buffer).setUint32(0, this.#names)
    return bytes
  }

  #tools(life: { readonly died: boolean }): readonly Capability[] {
    const tool = (name: string, effect: 'read' | 'write', idempotent: boolean): Capability =>
      capability({
        name,
        description: 'A tool of the world',
        effect,
        idempotent,
        expose: ['network_failed'],
        invoke: (_input: unknown, { idempotencyKey }) => this.#effect(name, idempotencyKey, life),
      })
    return [
      tool('world.read', 'read', true),
      tool('world.put', 'write', true),
      tool('world.once', 'write', false),
    ]
  }

  async #effect(tool: string, key: string, life: { readonly died: boolean }): Promise<string> {
    // A process that is dead does nothing more.
    if (life.died) return new Promise(() => {})
    this.#calls += 1
    if (this.failing > 0 && this.#calls % this.failing === 0)
      throw new CaissonError('network_failed', 'The service is gone.')
    const known = this.effects.get(key)
    const effect = known ?? { tool, times: 0, value: `value of ${key}` }
    effect.times += 1
    this.effects.set(key, effect)
    return effect.value
  }
}

function evaluated(source: string, input: unknown): Outcome {
  const value: unknown = compileFunction(source, ['input'])(structuredClone(input))
  const usage = { fuel: 1, memoryBytes: 0, wallMs: 0, idleMs: 0, calls: 0, bytesIn: 0, bytesOut: 0 }
  return { status: 'completed', value, usage, logs: [], engine: 'none' } as unknown as Outcome
}

/** The write that kills is there afterwards, or not: whoever made it does not hear of it. */
function dying(store: RunStore, life: { writes: number; died: boolean }): RunStore {
  const died = (): CaissonError => new CaissonError('store_failed', 'died')
  const alive = (): void => {
    if (life.died) throw died()
  }
  const write = async (work: () => Promise<void>): Promise<void> => {
    alive()
    life.writes -= 1
    if (life.writes >= 0) return work()
    if (Math.abs(Math.trunc(life.writes)) % 2 === 1) await work()
    life.died = true
    throw died()
  }
  return {
    putBlob: (id, bytes) => write(() => store.putBlob(id, bytes)),
    getBlob: async (id) => {
      alive()
      return store.getBlob(id)
    },
    head: async (run) => {
      alive()
      return store.head(run)
    },
    setHead: (run, head, lease) => write(() => store.setHead(run, head, lease)),
    append: (run, at, entries, lease) => write(() => store.append(run, at, entries, lease)),
    entries: async (run, from, most) => {
      alive()
      return store.entries(run, from, most)
    },
    lease: async (run, ttlMs) => {
      alive()
      return store.lease(run, ttlMs)
    },
    runs: () => store.runs(),
    remove: (run, lease) => store.remove(run, lease),
    collect: (options) => store.collect(options),
    close: () => store.close(),
  }
}
