/** A node that is a call of a component: what that is run with, and what it gave. */
import type { ComponentResult } from '../../component/component-result.ts'
import type { ComponentNode } from '../../graph/plan/plan.ts'
import { hasDirectory } from '../../graph/plan/wasm-kinds.ts'
import type { RunComponentOptions } from '../components/component-options.ts'
import type { Outcome } from '../outcome.ts'
import { nodeWorld, type WorldInput, writtenEnd } from './node-world.ts'

/** What `inputOf` of its kind gives where its node says something of WASI. */
interface InputWithWasi {
  readonly args: readonly unknown[]
  readonly wasi: WorldInput
}

/** Of all of them. */
const ALWAYS = { clock: true, random: true } as const

/** @throws CaissonError `value_refused` for what is neither text, nor bytes, nor JSON */
export function componentOptions(
  { export: name, wasi }: ComponentNode,
  input: unknown,
): Pick<RunComponentOptions, 'export' | 'args' | 'wasi' | 'collect'> {
  if (wasi === undefined) return { export: name, args: input as readonly unknown[], wasi: ALWAYS }
  const { args, wasi: given } = input as InputWithWasi
  const directory = hasDirectory(wasi) ? (wasi.directory ?? '/') : undefined
  return { export: name, args, wasi: { ...nodeWorld(given, directory), ...ALWAYS }, collect: true }
}

/** The outcome of the guest as that of its node. */
export function componentEnd({ wasi }: ComponentNode, outcome: Outcome): Outcome {
  if (wasi === undefined || outcome.status !== 'completed') return outcome
  const { value, ...written } = outcome.value as ComponentResult
  return writtenEnd(outcome, written, wasi, 'component', { value })
}
