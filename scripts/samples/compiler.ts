/** What makes a core module, or in one step a component, of sources. One implementation for each language. */
import type { Sample } from './sample.ts'

export interface Compiler {
  /** Name and version: where it is equal, the bytes are. Undefined where the compiler is not installed. */
  version(): Promise<string | undefined>
  /** What brings it. */
  readonly from: string
  /** @returns the module, or the component that it is already. @throws Error with what the compiler said */
  compile(sample: Sample): Promise<Uint8Array>
}
