/**
 * What a kept program was started with, compared with what its node says: its log alone would be consistent with any
 * other program that is written down in it.
 *
 * Invariant: source, form, modules, input and seed, or what a guest of another kind is called with, are those of the node. Its limits are not compared: it had what was
 * left of budgets, and what it used is compared.
 */
import type { MachineStart } from '../../../machine/turn.ts'
import type { RunEntry, StartEntry } from '../../../snapshot/run-log/run-entry.ts'
import { digestValue } from '../../../values/digest-value.ts'
import { type Attempt, differs } from './attempt.ts'
import { checkSame } from './difference.ts'

/** Of starts: sources of modules are as large as 64 MiB. */
const START_LIMITS = { bytes: 256 * 1024 * 1024, nodes: 4_000_000, depth: 600 }

/**
 * @param first entry of the log
 * @param start as it were started now
 * @returns why it cannot be compared; undefined where it is the same
 * @throws Differs
 */
export function checkStart(
  attempt: Attempt,
  first: RunEntry | undefined,
  start: MachineStart,
): string | undefined {
  if (first?.type !== 'start') throw differs('log', attempt, 'Its log does not begin with a start.')
  const at = { position: attempt.position, node: attempt.path, of: 'program' } as const
  const same = (what: string, part: (one: MachineStart | StartEntry) => unknown): void =>
    checkSame(
      { ...at, words: `${what} of the program` },
      digestValue(part(start), START_LIMITS),
      digestValue(part(first), START_LIMITS),
    )
  same('the seed', ({ seed }) => seed)
  same('the input', ({ input }) => input ?? null)
  same('the source as it was written', ({ written, source }) => written?.digest ?? { source })
  if (start.written?.by !== first.written?.by) return 'Another build made JavaScript of its source.'
  same('the source', ({ source }) => source)
  same('the form', ({ form, fileName }) => [form, fileName])
  same('what the guest is called with', ({ program }) => program ?? null)
  same('the modules', ({ modules }) => modules ?? null)
  same('whether there is a beginning', ({ ended }) => ended?.status === 'failed')
  return undefined
}
