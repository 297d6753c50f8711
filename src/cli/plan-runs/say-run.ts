/** Where a run is, said before it begins: who is killed cannot say it any more. */
import { escapeText } from '../../base/escape-text.ts'
import type { PlanRun } from '../../runtime/plans/plan-run.ts'
import { styleFor } from '../render/style.ts'
import type { PlanSession } from './plan-session.ts'

export function sayRun({ run }: PlanRun, { io, storeName }: PlanSession): void {
  const { dim } = styleFor(io.stderr)
  io.stderr.write(`${dim(`run: ${run} in ${escapeText(storeName)}`)}\n`)
}
