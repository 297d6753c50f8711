/** What every plan may name on the command line, without `--tools`: it reaches nothing outside of its own run. */
import { createApprovalCapabilities } from '../../../host-bindings/approvals/approval-capabilities.ts'
import type { Capability } from '../../capability/capability.ts'

/** @param given those of `--tools` and `--allow-*`: one of the same name takes the place of ours */
export function withOwnTools(given: readonly Capability[]): readonly Capability[] {
  const names = new Set(given.map(({ name }) => name))
  return [...given, ...createApprovalCapabilities().filter(({ name }) => !names.has(name))]
}
