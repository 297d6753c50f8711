/**
 * What it costs to keep a guest that waits: written down, taken up again, parked and woken.
 *
 * Checkpoints of Caisson are authenticated (HMAC-SHA-256) and digested unless the case says otherwise, and a restore
 * verifies both. Those of quickjs-wasi are what it serializes: the whole memory, neither compressed nor checked.
 */
import type { Case, Suite } from '../harness/suite.ts'
import type { CheckpointQuestion } from '../subjects/subject.ts'

type Asked = Pick<Case, 'description' | 'unit'>

const CASES: Readonly<Record<CheckpointQuestion, Asked>> = {
  step: { description: 'a small step in a chain of at most 16: captured and written against the one before' },
  'step-size': { description: 'how large that is', unit: 'bytes' },
  'step-unkeyed': { description: 'as step, digested and not authenticated' },
  'step-unkeyed-size': { description: 'how large that is', unit: 'bytes' },
  'first-size': {
    description: 'the first checkpoint of a guest that asked for one number, against the base image',
    unit: 'bytes',
  },
  size: { description: 'a small guest at its first wait, by itself', unit: 'bytes' },
  restore: { description: 'that guest taken up again from its bytes, up to where it could go on' },
  'restore-chain': { description: 'as restore, out of a chain of 16 links and the checkpoint they stand on' },
  wake: { description: 'a parked guest is woken, takes a step, and is parked again' },
  'crowd-memory': {
    description: '10,000 parked guests of one program: how much a process grows',
    unit: 'bytes',
  },
  'crowd-wake': { description: 'one of them is woken, takes a step, and another one is parked; CPU time' },
  'few-pages': { description: 'as step, with 16 MB in use of which 10 pages of data were written to' },
  block: {
    description:
      'the longest time between two turns of the event loop, while 32 MB are captured and written alone',
  },
}

export const checkpoint: Suite = {
  name: 'checkpoint',
  description: 'A guest that waits is written down, taken up again, parked and woken',
  subjects: 'sandbox',
  bases: ['caisson'],
  cases: Object.entries(CASES).map(([name, asked]) => ({
    name,
    ...asked,
    trialOf: ({ checkpoints }) =>
      checkpoints?.[name as CheckpointQuestion] ?? { unable: 'has nothing of the kind, or was not asked' },
  })),
}
