/** XState: a machine of one state per step, each of which invokes a promise. Nothing is kept: it is the floor. */
import { type Chain, chainTrial, LONG, SHORT, step, stepNames } from '../graph/chain.ts'
import { graphSubject } from '../graph/graph-subject.ts'
import { importPackage, peerVersion } from './peer-package.ts'
import type { Subject } from './subject.ts'

interface Context {
  readonly n: number
}
interface Actor {
  start(): void
}
interface Setup {
  createMachine(machine: object): unknown
}
interface Package {
  setup(parts: object): Setup
  fromPromise(run: (given: { readonly input: number }) => Promise<number>): unknown
  assign(parts: { readonly n: (given: { readonly event: { readonly output: number } }) => number }): unknown
  createActor(machine: unknown): Actor
  toPromise(actor: Actor): Promise<unknown>
}

const NAME = 'xstate'

async function chain(length: number): Promise<Chain> {
  const { setup, fromPromise, assign, createActor, toPromise } = await importPackage<Package>(NAME)
  const names = stepNames(length)
  const taken = assign({ n: ({ event }) => event.output })
  const states = names.map((name, i) => {
    const onDone = { target: names[i + 1] ?? 'end', actions: taken }
    return [
      name,
      { invoke: { src: 'step', input: ({ context }: { context: Context }) => context.n, onDone } },
    ]
  })
  const machine = setup({ actors: { step: fromPromise(({ input }) => step(input)) } }).createMachine({
    context: { n: 0 },
    initial: names[0],
    states: { ...Object.fromEntries(states), end: { type: 'final' } },
    output: ({ context }: { context: Context }) => context.n,
  })
  return {
    run: () => {
      const actor = createActor(machine)
      actor.start()
      return toPromise(actor)
    },
  }
}

export function openXstate(): Subject {
  return graphSubject(
    { id: 'xstate', version: peerVersion(NAME), note: 'a state machine in memory; keeps nothing' },
    {
      'chain-200': async () => chainTrial(SHORT, await chain(SHORT)),
      'chain-1000': async () => chainTrial(LONG, await chain(LONG)),
    },
  )
}
