/** Machines of modules for tests, on the real WASI host. */
import { readFileSync } from 'node:fs'
import { loadBinaryenAsyncify } from '../../../host-bindings/asyncify/binaryen-asyncify.ts'
import { nodePageTools } from '../../../host-bindings/system/page-tools.node.ts'
import { wasiSource } from '../../../host-bindings/wasi/wasi-source.ts'
import { sha256 } from '../../base/digest.ts'
import type { GuestCapability, SyncCalls } from '../../capability/call.ts'
import { DEFAULT_LIMITS, type Limits } from '../../machine/limits.ts'
import type { MachineStart, Turn, TurnControl } from '../../machine/turn.ts'
import { assemble } from '../../wasm/assemble.testkit.ts'
import { prepareCore } from '../core/prepare-core.ts'
import { type ModuleCode, moduleCode, moduleEngine, suspendingImports } from './module-code.ts'
import { ModuleMachine } from './module-machine.ts'
import type { ModuleProgram } from './module-program.ts'

const asyncify = await loadBinaryenAsyncify()
const PAGE = 65_536

export const FOREVER: TurnControl = { deadline: Number.POSITIVE_INFINITY }
export const NOW: number = Date.UTC(2026, 0, 1)
const SEED: Uint8Array = new Uint8Array(32).fill(7)

export function sample(name: string): Uint8Array {
  return readFileSync(new URL(`../../../guest/samples/built/${name}.wasm`, import.meta.url))
}

/** @param suspendable whether it can wait */
export function codeOf(
  wasm: Uint8Array | string,
  suspendable = true,
  memoryBytes: number = 64 * 1_048_576,
): ModuleCode {
  const bytes = typeof wasm === 'string' ? assemble(wasm) : wasm
  const suspends = suspendable ? suspendingImports(bytes) : []
  const prepared = prepareCore(bytes, {
    profile: 'v8',
    maxMemoryPages: memoryBytes / PAGE,
    suspends,
    ...(suspends.length > 0 && { asyncify }),
  })
  const engine = moduleEngine(sha256(bytes), prepared.manifest, asyncify.version)
  const module = new WebAssembly.Module(prepared.wasm as BufferSource)
  return moduleCode(engine, prepared, module, nodePageTools.samePage)
}

export interface OpenedModule {
  readonly machine: ModuleMachine
  readonly start: MachineStart
}

export interface Wanted {
  readonly program?: Partial<ModuleProgram>
  readonly limits?: Partial<Limits>
  readonly capabilities?: readonly GuestCapability[]
  readonly sync?: SyncCalls['call']
  readonly monotonic?: () => number
}

export function openModule(code: ModuleCode, wanted: Wanted = {}): OpenedModule {
  const { program, limits, capabilities = [], sync = () => undefined, monotonic = () => 0 } = wanted
  const { images, ...rest } = code
  const machine = new ModuleMachine({
    ...rest,
    images: images('test'),
    wasi: wasiSource,
    syncCalls: { call: sync },
    monotonic,
    tools: nodePageTools,
  })
  const start: MachineStart = {
    source: '',
    form: 'auto',
    fileName: 'module.wasm',
    input: undefined,
    capabilities,
    limits: { ...DEFAULT_LIMITS, ...limits },
    seed: SEED,
    nowMs: NOW,
    program: {
      kind: 'module',
      version: 1,
      entry: '_start',
      args: ['program'],
      env: {},
      stdin: new Uint8Array(0),
      directories: [],
      clock: true,
      random: true,
      ...program,
    } satisfies ModuleProgram,
  }
  return { machine, start }
}

export function runModule(code: ModuleCode, wanted: Wanted = {}): Turn {
  const { machine, start } = openModule(code, wanted)
  return machine.start(start, { deadline: Number.POSITIVE_INFINITY })
}

export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

export function bytes(of: string): Uint8Array {
  return new TextEncoder().encode(of)
}
