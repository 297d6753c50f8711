/**
 * Components, as the runtime offers them: loaded with the first one, so that who runs none does not download it.
 */
import { CaissonError } from '../base/errors.ts'
import type { OpenComponent } from '../component/open-component.ts'
import { isPrebuilt, NO_SOURCE, type PrebuiltComponent } from '../component/prebuilt-manifest.ts'
import type { ComponentOpenerParts, openComponent } from './components/component-opener.ts'
import type { OpenComponentOptions } from './components/component-options.ts'
import type { ComponentRuns, ComponentRunsParts } from './components/component-runs.ts'
import type { KeptComponents } from './components/prepared-components.ts'
import { limitsOf } from './machine-start.ts'

type ComponentDeskParts = ComponentOpenerParts & ComponentRunsParts

export class ComponentDesk {
  readonly #parts: ComponentDeskParts
  readonly #kept: KeptComponents = {}
  #open: typeof openComponent | undefined
  #runs: ComponentRuns | undefined
  #closed = false

  /** @param parts what the runtime lends */
  constructor(parts: ComponentDeskParts) {
    this.#parts = parts
  }

  /** See `Runtime.openComponent`. */
  async open(source: Uint8Array | PrebuiltComponent, options: OpenComponentOptions): Promise<OpenComponent> {
    if (!(source instanceof Uint8Array) && !isPrebuilt(source))
      throw new CaissonError('invalid_argument', NO_SOURCE)
    limitsOf(options.limits, this.#parts.bounds)
    this.#checkOpen()
    this.#open ??= (await import('./components/component-opener.ts')).openComponent
    const component = await this.#open(this.#parts, source, options, this.#kept)
    this.#checkOpen()
    return component
  }

  /** Those that are run to their end. @throws CaissonError `disposed` */
  async runs(): Promise<ComponentRuns> {
    const { ComponentRuns } = await import('./components/component-runs.ts')
    this.#checkOpen()
    this.#runs ??= new ComponentRuns(this.#parts, this.#kept)
    return this.#runs
  }

  #checkOpen(): void {
    if (this.#closed) throw new CaissonError('disposed', 'The runtime was closed.')
  }

  /** Takes no further component. Instances that are open are their holders'. */
  close(): void {
    delete this.#kept.prepared
    this.#closed = true
  }
}
