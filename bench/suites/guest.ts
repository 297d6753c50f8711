/**
 * What the library of guests costs those that do not use it, and those that do; and TypeScript.
 *
 * `caisson-bare` is the same engine with an empty prelude, below the public API.
 */
import type { Case, Suite } from '../harness/suite.ts'
import type { GuestQuestion } from '../subjects/subject.ts'

type Asked = Pick<Case, 'description' | 'unit'>

const CASES: Readonly<Record<GuestQuestion, Asked>> = {
  acquire: { description: 'an isolate is taken and given back, its memory overwritten' },
  'live-image': { description: 'pages of a guest before its program that are not zero', unit: 'bytes' },
  'first-url': {
    description: 'a program touches URL for the first time and parses one; CPU time between two calls',
  },
  'first-abort': { description: 'the same for an AbortController, with the events that it stands on' },
  'first-encoding': { description: 'the same for a TextEncoder' },
  'first-stream': { description: 'the same for a ReadableStream that is made and read from' },
  'first-form': { description: 'the same for a FormData' },
  'typescript-first': { description: 'TypeScript of 200 lines that was not seen before becomes JavaScript' },
  'typescript-cached': { description: 'the same source again' },
  'one-shot': {
    description:
      'TypeScript of 20 lines with two awaited calls, another text each time, from source to value',
  },
}

export const guest: Suite = {
  name: 'guest',
  description: 'The library of guests: what it costs before it is used and when it is; TypeScript',
  subjects: 'sandbox',
  bases: ['caisson'],
  cases: Object.entries(CASES).map(([name, asked]) => ({
    name,
    ...asked,
    trialOf: ({ guest: trials }) =>
      trials?.[name as GuestQuestion] ?? { unable: 'has nothing of the kind, or was not asked' },
  })),
}
