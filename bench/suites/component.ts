/**
 * Components: calling them, against what jco generates for the same ones; opening them; what metering a loop in C costs.
 */
import type { Case, Suite } from '../harness/suite.ts'
import type { ComponentQuestion } from '../subjects/subject.ts'

const CASES: Readonly<Record<ComponentQuestion, Pick<Case, 'description' | 'rounds'>>> = {
  call: { description: 'an export without arguments that gives two numbers; ours is awaited' },
  'host-call': { description: 'an export with a text that calls the host once; ours is awaited' },
  instance: { description: 'a fresh instance of a prepared component in C of 79 KB' },
  cached: { description: 'a component with QuickJS (1 MB) is opened that was prepared before', rounds: 11 },
  loop: { description: 'a loop in C over a million numbers, in the core module of a component' },
  'python-prepared': { description: 'CPython (26 MB) is prepared for the first time', rounds: 1 },
  'python-print': {
    description: '`print(1+1)` on CPython that is prepared; on the system, a process',
    rounds: 5,
  },
  'python-warm': {
    description: 'the same where the start of CPython was done before; on the system, a process',
    rounds: 11,
  },
  'ruby-warm': { description: '`puts 1+1` on CRuby (31 MB) whose start was done before', rounds: 11 },
  'python-loop': { description: 'a loop of a million rounds on CPython, with its start', rounds: 5 },
  'ruby-loop': { description: 'the same on CRuby', rounds: 5 },
}

export const component: Suite = {
  name: 'component',
  description: 'WebAssembly components and modules as guests: calls, instances, preparing, metering',
  subjects: 'component',
  bases: ['jco', 'core-unmetered', 'python3'],
  cases: Object.entries(CASES).map(([name, asked]) => ({
    name,
    ...asked,
    trialOf: ({ component: trials }) =>
      trials?.[name as ComponentQuestion] ?? { unable: 'has nothing of the kind, or was not asked' },
  })),
}
