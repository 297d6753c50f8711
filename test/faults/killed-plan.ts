/** Runs of the paying plan in processes that are killed: see `killed-plan.test.ts`. */
import { type KilledChildren, openKilledChildren, problemsOfRun } from './killed-children.ts'
import { problemsAfterGoingOn } from './paying-people.ts'

export type KilledPlans = KilledChildren

export function openKilledPlans(): Promise<KilledPlans> {
  return openKilledChildren('plan-child', problemsAfterGoingOn)
}

/** What is wrong with the run that a process left. */
export function problemsWith(folder: string, effects: string): Promise<readonly string[]> {
  return problemsOfRun(folder, effects, problemsAfterGoingOn)
}
