/** What a fresh guest costs. */
import type { Suite } from '../harness/suite.ts'

export const acquire: Suite = {
  name: 'acquire',
  description: 'A fresh guest, up to where it could evaluate; closing it is not timed',
  subjects: 'sandbox',
  bases: ['caisson', 'quickjs-emscripten'],
  cases: [
    {
      name: 'fresh guest',
      description: 'isolate, runtime and context, VM, realm or thread',
      trialOf: (subject) => subject.acquire,
    },
  ],
}
