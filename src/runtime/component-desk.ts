/**
 * Components, as the runtime offers them: loaded with the first one, so that who runs none does not download it.
 */
import { CaissonError } from '../base/errors.ts'
import { loadOnce } from '../base/load-once.ts'
import type { OpenComponent } from '../component/open-component.ts'
import type { PrebuiltComponent } from '../component/prebuilt-manifest.ts'
import type { ComponentOpenerParts } from './components/component-opener.ts'
import type { OpenComponentOptions } from './components/component-options.ts'
import type { ComponentRuns, ComponentRunsParts } from './components/component-runs.ts'
import type { PreparedComponents } from './components/prepared-components.ts'
import { limitsOf } from './machine-start.ts'

type ComponentDeskParts = ComponentOpenerParts & ComponentRunsParts

export class ComponentDesk {
  readonly #parts: ComponentDeskParts
  readonly #opener = loadOnce(() => import('./components/component-opener.ts'))
  readonly #keeper = loadOnce(() => import('./components/prepared-components.ts'))
  #kept: PreparedComponents | undefined
  #runs: ComponentRuns | undefined
  #closed = false

  /** @param parts what the runtime lends */
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
    limitsOf(options.limits, this.#parts.bounds)
    this.#checkOpen()
    const { openComponent } = await this.#opener()
    const component = await openComponent(this.#parts, source, options, await this.#prepared())
    this.#checkOpen()
    return component
  }

  /** Those that are run to their end. @throws CaissonError `disposed` */
  async runs(): Promise<ComponentRuns> {
    const { ComponentRuns } = await import('./components/component-runs.ts')
    const kept = await this.#prepared()
    this.#runs ??= new ComponentRuns(this.#parts, kept)
    return this.#runs
  }

  /** What was prepared before. @throws CaissonError `disposed` */
  async #prepared(): Promise<PreparedComponents> {
    const { PreparedComponents } = await this.#keeper()
    this.#checkOpen()
    this.#kept ??= new PreparedComponents()
    return this.#kept
  }

  #checkOpen(): void {
    if (this.#closed) throw new CaissonError('disposed', 'The runtime was closed.')
  }

  /** Takes no further component. Instances that are open are their holders'. */
  close(): void {
    this.#kept?.clear()
    this.#closed = true
  }
}

function isPrebuilt(source: unknown): source is PrebuiltComponent {
  const { manifest, read } = (source ?? {}) as Partial<PrebuiltComponent>
  return typeof manifest === 'object' && manifest !== null && typeof read === 'function'
}
