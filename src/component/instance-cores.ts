/**
 * The core modules of an instance: linked one after the other, within the memory that all of them may have together.
 */
import { CaissonError } from '../base/errors.ts'
import { METER_NAMESPACE, START_EXPORT } from '../wasm/meter-options.ts'
import { GuestFault } from './abi/guest-memory.ts'
import { unsupportedInComponent } from './binary/component-error.ts'
import type { CoreInstance } from './core/core-guest.ts'
import type { CoreManifest } from './core/core-manifest.ts'
import { MEMORY_EXPORT } from './core/expose-state.ts'
import { importedConstants } from './core/imported-constants.ts'
import type { InstanceMeter } from './instance-meter.ts'
import type { CoreExports } from './link/link-scope.ts'
import type { CompiledCore } from './prepare-component.ts'

export interface InstanceCoresParts {
  readonly cores: readonly CompiledCore[]
  readonly meter: InstanceMeter
  readonly memoryBytes: number
  /** Whether start functions run: not where a captured instance is restored. */
  readonly starts: boolean
  /** Told of each before its start function runs. */
  readonly made: (core: CoreInstance) => void
}

/** Modules up to this size are instantiated at once: the other way costs more than most of them take. */
const SMALL_MODULE = 4 * 1024 * 1024

/**
 * What all of them may take of the host together, beside memory: a small component can instantiate a module a thousand
 * times. Functions, imports and exports; entries of tables; bytes of code and data, which are copied.
 */
const MOST_ITEMS = 1_000_000
const MOST_TABLE_ENTRIES = 1_000_000
const MOST_BYTES = 1024 * 1024 * 1024

export class InstanceCores {
  readonly #parts: InstanceCoresParts
  readonly #all: CoreInstance[] = []
  readonly #memories = new Set<WebAssembly.Memory>()
  #items = 0
  #tableEntries = 0
  #bytes = 0

  constructor(parts: InstanceCoresParts) {
    this.#parts = parts
  }

  /** In the order in which they were made. */
  get all(): readonly CoreInstance[] {
    return this.#all
  }

  /** Bytes in all memories. */
  get memoryBytes(): number {
    let sum = 0
    for (const { buffer } of this.#memories) sum += buffer.byteLength
    return sum
  }

  /** @throws CaissonError `invalid_component`, `machine_lost`; `GuestFault`, and what the start function traps with */
  async instantiate(
    index: number,
    given: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ): Promise<CoreExports> {
    const { cores, meter, memoryBytes, starts, made } = this.#parts
    const core = cores[index]
    if (core === undefined) throw new CaissonError('corrupted', 'A core module of the component is missing.')
    const { module, manifest } = core
    this.#count(manifest)
    const constants = importedConstants(manifest, given)
    const imports = { ...given, ...constants, [METER_NAMESPACE]: meter.imports } as WebAssembly.Imports
    const small = manifest.bytesOut <= SMALL_MODULE
    const { exports } = await linked(() =>
      small ? new WebAssembly.Instance(module, imports) : WebAssembly.instantiate(module, imports),
    )
    const memory = exports[MEMORY_EXPORT]
    if (memory instanceof WebAssembly.Memory) this.#memories.add(memory)
    if (this.#memories.size > 1) meter.watchMemory(() => this.memoryBytes > memoryBytes)
    if (this.memoryBytes > memoryBytes) {
      meter.gauge.halt('memory')
      throw new GuestFault('The modules of the component need more memory than there is.')
    }
    const instance = { manifest, exports }
    this.#all.push(instance)
    made(instance)
    const start = exports[START_EXPORT]
    if (starts && manifest.hasStart && typeof start === 'function') start()
    return exports
  }

  /** Before one more is made. @throws CaissonError `unsupported_feature` */
  #count({ functions, imports, exports, tableEntries, bytesOut }: CoreManifest): void {
    this.#items += functions + imports.length + exports.length
    this.#tableEntries += tableEntries
    this.#bytes += bytesOut
    if (this.#items > MOST_ITEMS || this.#tableEntries > MOST_TABLE_ENTRIES || this.#bytes > MOST_BYTES)
      throw unsupportedInComponent('more instances of core modules than the host has room for')
  }

  /** Nobody asks for its memory any more. */
  letGo(): void {
    this.#memories.clear()
  }
}

/** Links one core module. What does not fit is the component's mistake; what traps is the guest's. */
async function linked(
  make: () => WebAssembly.Instance | Promise<WebAssembly.Instance>,
): Promise<WebAssembly.Instance> {
  try {
    return await make()
  } catch (cause) {
    if (cause instanceof WebAssembly.LinkError || cause instanceof TypeError) {
      throw new CaissonError(
        'invalid_component',
        `Core modules do not fit together: ${cause.message.slice(0, 300)}`,
        { cause },
      )
    }
    if (cause instanceof RangeError)
      throw new CaissonError('machine_lost', 'The host has no room for the memory of the component.', {
        cause,
      })
    throw cause
  }
}
