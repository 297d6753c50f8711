/**
 * Whether the engine's parser takes a source as JavaScript, in one of the forms that a program may have. Nothing of it
 * runs: it is compiled in an instance that no guest has, under bounds, and the instance is overwritten.
 */
import type { ProgramForm, TurnControl } from '../machine/turn.ts'
import { programAttempts } from '../program/forms.ts'
import type { InstancePool, PooledInstance } from './instance-pool.ts'

const EVAL_MODULE = 1
const EVAL_COMPILE_ONLY = 1 << 5
const EVAL_ASYNC = 1 << 7

/** Enough for megabytes. Who runs out of it is taken for JavaScript: the guest itself shows what is wrong. */
const FUEL = 20_000_000_000
const STACK_BYTES = 786_432
const MEMORY_BYTES = 128 * 1024 * 1024

/** @returns undefined where the deadline or an abort came first */
export function parsesAsJavaScript(
  pool: InstancePool,
  source: string,
  form: ProgramForm,
  control: TurnControl,
): boolean | undefined {
  const pooled = pool.acquire()
  const { instance } = pooled
  const { gauge } = instance
  instance.serve({ call: () => 0, readClock: () => 0, promiseRejection: () => {} }, MEMORY_BYTES)
  gauge.reset(FUEL)
  gauge.begin(STACK_BYTES, control.deadline, control.aborted)
  let whole = true
  let parses = true
  try {
    parses = programAttempts(source, form).some(({ code, form: attempted }) =>
      compiles(pooled, code, attempted === 'module' ? EVAL_MODULE : EVAL_ASYNC),
    )
  } catch {
    whole = false
  }
  gauge.end()
  pooled.release(whole && instance.fault === undefined)
  return gauge.stopReason === 'wall' || gauge.stopReason === 'aborted' ? undefined : parses
}

function compiles(pooled: PooledInstance, source: string, flags: number): boolean {
  const { instance, guest } = pooled
  const code = instance.allocateText(source)
  const file = instance.allocateText('caisson:look')
  const cell = instance.exports.QTS_Eval(
    guest.context,
    code.pointer,
    code.bytes,
    file.pointer,
    0,
    flags | EVAL_COMPILE_ONLY,
  )
  return pooled.exceptionOf(cell) === 0
}
