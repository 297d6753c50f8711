/** The capability of the paying programs and plans. */
import { type Capability, capability } from '../../src/entry/node.ts'

/** Pays what it is told, and answers with the next number. @param onPaid told of each payment as it goes out */
export function payingWorld(onPaid: (amount: string) => void): Capability {
  return capability({
    name: 'world.pay',
    description: 'Leaves a line',
    effect: 'write',
    invoke: (args: unknown) => {
      onPaid(String(args))
      return Number(args) + 1
    },
  })
}
