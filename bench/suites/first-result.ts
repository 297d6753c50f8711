/** What the smallest program costs from nothing to its answer. */
import type { Suite } from '../harness/suite.ts'

export const firstResult: Suite = {
  name: 'first-result',
  description: 'A fresh guest evaluates 1 + 2 and the host has the answer; closing it is not timed',
  subjects: 'sandbox',
  bases: ['caisson', 'quickjs-emscripten'],
  cases: [
    {
      name: 'fresh guest, 1 + 2',
      description: 'acquire, parse, evaluate, read the number',
      trialOf: (subject) => subject.firstResult,
    },
  ],
}
