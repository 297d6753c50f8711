/** A node that is a WASI module: what its guest is run with, and what it gave. */
import type { ModuleResult } from '../../component/module/module-end.ts'
import type { ModuleNode } from '../../graph/plan/plan.ts'
import type { Outcome } from '../outcome.ts'
import type { RunModuleOptions } from '../wasi/module-options.ts'
import { nodeWorld, type WorldInput, writtenEnd } from './node-world.ts'

/** @throws CaissonError `value_refused` for what is neither text, nor bytes, nor JSON */
export function moduleOptions(
  node: ModuleNode,
  input: unknown,
): Pick<
  RunModuleOptions,
  'name' | 'args' | 'env' | 'stdin' | 'directories' | 'entry' | 'startUp' | 'missing'
> {
  const { entry, startUp, missing, directory = '/' } = node
  return {
    name: 'program',
    ...(entry && { entry }),
    ...(startUp && { startUp }),
    ...(missing && { missing }),
    ...nodeWorld(input as WorldInput, directory),
  }
}

/** The outcome of the guest as that of its node. */
export function moduleEnd(node: ModuleNode, outcome: Outcome): Outcome {
  if (outcome.status !== 'completed') return outcome
  return writtenEnd(outcome, outcome.value as ModuleResult, node, 'module')
}
