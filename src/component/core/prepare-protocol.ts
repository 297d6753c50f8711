/** What is said between a host and a Worker that prepares a core module for it. One module for each Worker. */
import type { ErrorCode, ErrorDetails } from '../../base/errors.ts'
import type { PreparedCore } from './core-manifest.ts'
import type { PrepareCoreOptions } from './prepare-core.ts'

export interface PrepareMessage {
  readonly type: 'prepare'
  readonly bytes: Uint8Array
  readonly options: Omit<PrepareCoreOptions, 'asyncify'>
}

export type PrepareReply =
  | { readonly type: 'progress'; readonly done: number }
  | { readonly type: 'prepared'; readonly prepared: PreparedCore }
  | {
      readonly type: 'error'
      readonly code: ErrorCode
      readonly message: string
      readonly details: ErrorDetails
    }
