/** A process that runs the paying plan until it is killed: see `dying-child.ts`. */
import { liveUntilKilled } from './dying-child.ts'
import { runPlan } from './paying-people.ts'

await liveUntilKilled(1, runPlan)
