/** node:vm: another realm in the same heap. Not a security boundary; here as the floor of what a context costs. */
import vm from 'node:vm'
import { checkedTrial, openingTrial } from '../harness/trial.ts'
import { callLoopSource } from './guest-loops.ts'
import { countedHost } from './host-call-shapes.ts'
import type { Subject } from './subject.ts'

export function openNodeVm(): Subject {
  const close = (): void => {}
  return {
    id: 'node-vm',
    kind: 'sandbox',
    version: process.versions.node,
    note: 'V8 with its JIT; no isolation: objects pass by reference',
    acquire: () => openingTrial(() => vm.createContext({}), close),
    firstResult: () =>
      openingTrial(() => {
        const context = vm.createContext({})
        if (vm.runInContext('1 + 2', context) !== 3) throw new Error('1 + 2 is 3')
        return context
      }, close),
    hostCall: (shape) => () => {
      const { answer, settle } = countedHost(shape)
      const host = shape.awaited ? async (argument: unknown) => answer(argument) : answer
      // As a parameter: global look-ups of a context go through interceptors, which is not what is measured.
      const bind = vm.runInContext(
        `(host) => { ${callLoopSource(shape, 'value', 'host')}; return calls }`,
        vm.createContext({}),
      ) as (host: unknown) => () => unknown
      const calls = bind(host)
      // A promise of the other realm is not an instance of this one's.
      return checkedTrial(shape.calls, shape.awaited ? async () => await calls() : calls, settle)
    },
    throughput: (program) => () => {
      const context = vm.createContext({})
      vm.runInContext(program.source, context)
      const run = vm.runInContext('run', context) as () => unknown
      return checkedTrial(1, run, program.check)
    },
  }
}
