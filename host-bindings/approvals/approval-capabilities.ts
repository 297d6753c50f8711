/**
 * `approvals.list`: what people decided over the calls of a program that were let in, so that it can go by a comment, and
 * knows where its arguments were edited. Why a call was rejected is in the error that it gets.
 */
import type { Capability } from '../../src/capability/capability.ts'
import { defineBinding } from '../define-binding.ts'
import { object } from '../schema/composites.ts'

/** The capability `approvals.list`. */
export function createApprovalCapabilities(): readonly Capability[] {
  return [
    defineBinding({
      name: 'approvals.list',
      description:
        'What people decided over the calls of this program that they let pass, in order: [{ call, capability, args, edited, by, comment }]. `args` is what was called with; `edited` says whether a person wrote that in the place of what the program asked for.',
      effect: 'read',
      timeoutMs: 30_000,
      input: object({}),
      invoke: (_input, context) => context.decisions(),
    }),
  ]
}
