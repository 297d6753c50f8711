/** WASI modules, as the runtime offers them: loaded with the first one, so that who runs none does not download it. */
import { CaissonError } from '../base/errors.ts'
import type { ModuleRuns, ModuleRunsParts } from './wasi/module-runs.ts'

export class ModuleRunsDesk {
  readonly #parts: ModuleRunsParts
  #runs: ModuleRuns | undefined
  #closed = false

  constructor(parts: ModuleRunsParts) {
    this.#parts = parts
  }

  /** @throws CaissonError `disposed`, `unsupported` */
  async load(): Promise<ModuleRuns> {
    const { modules } = this.#parts.platform
    if (modules === undefined) throw new CaissonError('unsupported', 'This platform runs no WASI modules.')
    const [{ ModuleRuns }, tools] = await Promise.all([import('./wasi/module-runs.ts'), modules()])
    if (this.#closed) throw new CaissonError('disposed', 'The runtime was closed.')
    this.#runs ??= new ModuleRuns(this.#parts, tools)
    return this.#runs
  }

  /** Takes no further module. */
  close(): void {
    this.#closed = true
  }
}
