/** Ways in which an import can wait, beside leaving the stack (`component-wait.ts`). */
import type { ImportedFunction } from './component-shape.ts'
import type { SuspendingImport } from './core/core-manifest.ts'
import type { CoreFunction } from './link/component-function.ts'

/** Makes the answer of an import, inside of the turn; `SUSPENDED` where it waits for more. */
export type MakeAnswer = () => unknown

export interface ImportWait {
  /** From inside of the import. @param nesting frames of the host below it */
  suspend(at: SuspendingImport, nesting: number): Promise<MakeAnswer> | MakeAnswer
  /** Told the core function of the import. */
  add?(lowered: CoreFunction): void
}

export interface OtherWaits {
  /** `held`: its stack is held by the engine. */
  readonly by: 'held' | ImportWait
  /** Whether an import may be answered later. */
  readonly isAwaited: (wanted: Pick<ImportedFunction, 'interface' | 'name'>) => boolean
}
