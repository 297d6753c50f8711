/** Monty: a Python interpreter in Rust as a native Node addon. Speaks no JavaScript, so it takes part where the work is the same. */
import { checkedTrial, openingTrial, type Trial } from '../harness/trial.ts'
import { countedHost, type HostCallShape } from './host-call-shapes.ts'
import { importPackage, peerVersion } from './peer-package.ts'
import type { Subject } from './subject.ts'

type ExternalFunctions = Readonly<Record<string, (...args: unknown[]) => unknown>>
interface RunOptions {
  readonly inputs?: Readonly<Record<string, unknown>>
  readonly externalFunctions: ExternalFunctions
}
interface Monty {
  run(options?: RunOptions): unknown
}
interface Package {
  readonly Monty: new (source: string, options?: { readonly inputs: readonly string[] }) => Monty
  runMontyAsync(monty: Monty, options: RunOptions): Promise<unknown>
}

const NAME = '@pydantic/monty'

/** A call is written without `await` also where the host answers later: the binding suspends the program. */
function callLoop(shape: HostCallShape): string {
  const argument = shape.argument === undefined ? '' : 'argument'
  return `last = None
for i in range(${shape.calls}):
    last = host(${argument})
last`
}

/** Dictionaries arrive as maps. */
function toPlain(value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, each]) => [key, toPlain(each)]))
  return Array.isArray(value) ? value.map(toPlain) : value
}

function hostCallTrial({ Monty, runMontyAsync }: Package, shape: HostCallShape): Trial {
  const { answer, settle } = countedHost(shape)
  const monty = new Monty(callLoop(shape), { inputs: ['argument'] })
  const reply = typeof shape.argument === 'object' ? (value: unknown) => answer(toPlain(value)) : answer
  const inputs = { argument: shape.argument ?? null }
  const calls = shape.awaited
    ? () => runMontyAsync(monty, { inputs, externalFunctions: { host: async (value) => reply(value) } })
    : () => monty.run({ inputs, externalFunctions: { host: reply } })
  return checkedTrial(shape.calls, calls, (last) => settle(toPlain(last)))
}

export async function openMonty(): Promise<Subject> {
  const monty = await importPackage<Package>(NAME)
  return {
    id: 'monty',
    kind: 'sandbox',
    version: peerVersion(NAME),
    note: 'a subset of Python, native addon; its host calls are Python code calling out',
    acquire: { unable: 'has no empty guest: a program is parsed and run in one go (see first-result)' },
    firstResult: () =>
      openingTrial(
        () => {
          const guest = new monty.Monty('1 + 2')
          if (guest.run() !== 3) throw new Error('1 + 2 is 3')
          return guest
        },
        () => {},
      ),
    hostCall: (shape) => () => hostCallTrial(monty, shape),
    throughput: () => ({ unable: 'runs Python; the programs are JavaScript' }),
  }
}
