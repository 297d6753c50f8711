/** A process that runs the paying program until it is killed: see `dying-child.ts`. */
import { liveUntilKilled } from './dying-child.ts'
import { PROGRAM } from './paying-program.ts'

await liveUntilKilled(2, async (runtime) => {
  await runtime.run(PROGRAM, { run: 'r', grants: ['world.pay'], seed: 1 })
})
