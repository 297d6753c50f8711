/** What the flow graph of a function depends on besides its body. */
import type { DecodedBody } from './decoded-body.ts'
import type { FunctionType } from './module.ts'

/** What the graph needs to know about the rest of the module. */
export interface FlowContext {
  readonly types: readonly FunctionType[]
  /** Fuel of the instruction at `index` of the body. */
  cost(body: DecodedBody, index: number): number
  /** Fuel that a call at `index` of the body pays in advance for its callee; 0 for other instructions. */
  advance(body: DecodedBody, index: number): number
  /** The most fuel that the call at `index` of the body spends without a check; 0 for other instructions. */
  unchecked(body: DecodedBody, index: number): number
  /** A block that spends more than this, with what it calls, is divided. */
  readonly maxBlock: number
  /**
   * Whether exceptions may end calls while the instance lives on. Then calls and bulk instructions have edges to
   * the handlers.
   */
  readonly unwinds: boolean
}
