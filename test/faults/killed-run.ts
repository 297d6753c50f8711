/** Kept runs of the paying program in processes that are killed: see `killed-run.test.ts`. */
import { CaissonError, type Outcome, type Runtime } from '../../src/entry/node.ts'
import { type KilledChildren, openKilledChildren } from './killed-children.ts'
import { CALLS } from './paying-program.ts'

export type KilledRuns = KilledChildren

export function openKilledRuns(): Promise<KilledRuns> {
  return openKilledChildren('run-child', problemsAfterResuming)
}

async function problemsAfterResuming(runtime: Runtime, paid: readonly string[]): Promise<readonly string[]> {
  const before = [...paid]
  const problems: string[] = []
  try {
    const options = { grants: ['world.pay'] }
    let outcome: Outcome = await runtime.resume('r', options)
    if (outcome.status === 'suspended') {
      // Somebody looks whether the payment went out, and says so.
      const [id] = outcome.inDoubt
      const call = outcome.pending.find((one) => one.id === id)
      if (id === undefined || call === undefined) return ['it is suspended, and nothing is in doubt']
      if (paid.length > before.length) problems.push('it went on beside a call in doubt')
      outcome = await (before.includes(String(call.args))
        ? runtime.resume('r', { ...options, answers: [{ id, value: Number(call.args) + 1 }] })
        : runtime.resume('r', { ...options, confirm: [id] }))
    }
    const value = outcome.status === 'completed' ? JSON.stringify(outcome.value) : JSON.stringify(outcome)
    const expected = JSON.stringify([Array.from({ length: CALLS }, (_, i) => i + 1), true])
    if (value !== expected) problems.push(`it came to ${value}`)
    if (paid.join() !== Array.from({ length: CALLS }, (_, i) => i).join())
      problems.push(`it paid ${paid.join()}`)
  } catch (error) {
    // Killed before the run was announced: there is none, and nothing was done.
    if (!CaissonError.is(error, 'not_found') || before.length > 0)
      problems.push(String((error as Error).stack))
  }
  return problems
}
