/** Whether a name of a store is that of a run of a plan, or of something that belongs to one. */
import { CaissonError } from '../../base/errors.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { isRunName } from '../../runtime/check-options.ts'
import { decodePlanSummary } from '../../runtime/plan-summary.ts'
import { ownerOfPart } from '../../runtime/plans/part-names.ts'
import { CliError } from '../cli-error.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { openStore } from '../kept/open-store.ts'
import { placeOf } from '../kept/store-place.ts'
import { shellQuote } from '../render/shell-quote.ts'

/**
 * Whether the first argument names a run of a plan in `--store`. What a head says decides nothing but which of two
 * commands looks at the run: each of them checks for itself.
 * @param goesOn refuses programs of plans: who goes on with one does so with its plan
 * @throws CliError where the store cannot be opened
 */
export async function namesPlanRun(given: GivenFlags, cwd: string, goesOn: boolean): Promise<boolean> {
  const [name = ''] = given.positionals
  const storeName = given.value('store')
  if (storeName === undefined || !isRunName(name)) return false
  const store = await openStore(placeOf(storeName, cwd))
  try {
    if (await isPlanRun(store, name)) return true
    const owner = ownerOfPart(name)
    if (!goesOn || owner === undefined || !(await isPlanRun(store, owner))) return false
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `"${name}" is a part of the run "${owner}" of a plan: it has rights only within that.`,
      hint: `caisson resume ${owner} --store ${shellQuote(storeName)}`,
    })
  } finally {
    await store.close()
  }
}

export async function isPlanRun(store: RunStore, run: string): Promise<boolean> {
  try {
    const head = await store.head(run)
    return head !== undefined && decodePlanSummary(head.summary) !== undefined
  } catch (error) {
    // Whoever looks at the run says what is wrong with it.
    if (CaissonError.is(error)) return false
    throw error
  }
}
