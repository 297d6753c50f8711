/**
 * Components, as the runtime offers them: loaded with the first one, so that who runs none does not download it.
 */
import { CaissonError } from '../base/errors.ts'
import type { HostInterfaces } from '../component/component-imports.ts'
import type { PreparedCacheOptions } from '../component/core/prepared-cache.ts'
import type { OpenComponent } from '../component/open-component.ts'
import type { PrebuiltComponent } from '../component/prebuilt-manifest.ts'
import { type Limits, parseLimits } from '../machine/limits.ts'
import type { CheckpointPorts } from '../ports/checkpoint-ports.ts'
import type { Clock } from '../ports/clock.ts'
import type { LimitBounds } from './machine-start.ts'

export interface OpenComponentOptions {
  /**
   * What stands behind its imports: functions and classes in camelCase by the interface that declares them, with or without
   * a version (`wasi:clocks/wall-clock`); `$root` for functions beside all interfaces. Nothing else is there.
   */
  readonly interfaces?: HostInterfaces
  /** Of all calls together: `fuel`, `memoryBytes`. Of each: `wallMs`, `stackBytes`, `bytesIn`, `bytesOut`. */
  readonly limits?: Partial<Limits>
  /** Told how much of the preparation is done, from 0 to 1. */
  readonly onProgress?: (done: number) => void
  /** Stops the preparation. */
  readonly signal?: AbortSignal
  /** Where prepared components are kept between processes: what it gives is used only if it is authenticated. */
  readonly cache?: PreparedCacheOptions
}

/** What the runtime lends. */
export interface ComponentDeskParts {
  readonly bounds: LimitBounds
  /** How the engine of this platform is metered. */
  readonly profile: 'v8' | 'portable'
  readonly clock: Clock
  /** What caches digest with; left out, nothing is cached. */
  readonly checkpoints?: CheckpointPorts | undefined
}

const PAGE = 65_536

export class ComponentDesk {
  readonly #parts: ComponentDeskParts
  #closed = false

  constructor(parts: ComponentDeskParts) {
    this.#parts = parts
  }

  /** See `Runtime.openComponent`. */
  async open(source: Uint8Array | PrebuiltComponent, options: OpenComponentOptions): Promise<OpenComponent> {
    if (!(source instanceof Uint8Array) && !isPrebuilt(source)) {
      throw new CaissonError(
        'invalid_argument',
        'A component is given as its bytes (Uint8Array), or as what was built of it ({ manifest, read }).',
      )
    }
    const { bounds, profile, clock, checkpoints } = this.#parts
    const limits = parseLimits(options.limits, bounds.defaults)
    if (limits.memoryBytes > bounds.maxMemoryBytes)
      throw new CaissonError(
        'invalid_limit',
        `Limit memoryBytes is ${limits.memoryBytes}; this runtime allows at most ${bounds.maxMemoryBytes} (maxMemoryBytes).`,
        { details: { limit: 'memoryBytes', value: limits.memoryBytes, max: bounds.maxMemoryBytes } },
      )
    const { hostInterfaces, loadPrebuilt, openComponentInstance, PreparedCache, prepareComponent } =
      await import('../component/component.ts')
    this.#checkOpen()
    const maxMemoryPages = Math.floor(limits.memoryBytes / PAGE)
    const { onProgress, signal } = options
    const cache = options.cache && checkpoints && new PreparedCache(options.cache, checkpoints)
    const prepared =
      source instanceof Uint8Array
        ? await prepareComponent(
            source,
            { profile, maxMemoryPages, cache, ...(onProgress && { onProgress }), ...(signal && { signal }) },
            clock.monotonic,
          )
        : await loadPrebuilt(source, maxMemoryPages)
    this.#checkOpen()
    const imports = hostInterfaces(options.interfaces ?? {})
    return openComponentInstance(prepared, { imports, limits, monotonic: clock.monotonic })
  }

  #checkOpen(): void {
    if (this.#closed) throw new CaissonError('disposed', 'The runtime was closed.')
  }

  /** Takes no further component. Instances that are open are their holders'. */
  close(): void {
    this.#closed = true
  }
}

function isPrebuilt(source: unknown): source is PrebuiltComponent {
  const { manifest, read } = (source ?? {}) as Partial<PrebuiltComponent>
  return typeof manifest === 'object' && manifest !== null && typeof read === 'function'
}
