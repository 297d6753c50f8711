/**
 * Graphs of steps that are kept: what a step costs, how the cost grows, what is stored, and what going on costs.
 *
 * Caisson runs plans through its public API, calls through the gate, every event in a sealed journal.
 */
import type { Case, Suite } from '../harness/suite.ts'
import type { GraphQuestion } from '../subjects/subject.ts'

type Asked = Pick<Case, 'description' | 'unit' | 'rounds'>

const CASES: Readonly<Record<GraphQuestion, Asked>> = {
  'chain-200': { description: 'a step of a chain of 200 trivial calls, kept in memory' },
  'chain-1000': { description: 'the same in a chain of 1,000', rounds: 5 },
  growth: {
    description: 'time per step of a chain of 5,000 against one of 200, CPU time, in the same round',
    unit: 'times',
    rounds: 11,
  },
  'durable-200': { description: 'a step of a chain of 200, kept where it outlives the process', rounds: 11 },
  syncs: { description: 'how often a disk is waited for, per step of that', unit: 'syncs', rounds: 1 },
  bytes: {
    description: 'stored after 30 steps with a state of 100,000 characters that none of them changes',
    unit: 'bytes',
    rounds: 1,
  },
  'resume-10': {
    description: 'a program is taken up after 10 recorded calls of 20 KB, up to its next call',
    rounds: 11,
  },
  'resume-100': { description: 'the same after 100', rounds: 11 },
  'resume-1000': { description: 'the same after 1,000', rounds: 11 },
  'resume-growth': {
    description: 'taken up after 1,000 calls against after 10, CPU time, in the same round',
    unit: 'times',
    rounds: 11,
  },
  'resume-steps': {
    description: 'a plan of 990 calls of 20 KB that are nodes of their own, up to the next one',
    rounds: 11,
  },
  'crowd-memory': {
    description: '10,000 runs that wait for a person: how much a process grows that has them',
    unit: 'bytes',
    rounds: 1,
  },
  verify: {
    description: 'a run is verified, against executing it: CPU time, in the same round',
    unit: 'times',
    rounds: 11,
  },
}

export const graph: Suite = {
  name: 'graph',
  description: 'Graphs of steps that are kept: per step, by their length, what is stored, and going on',
  subjects: 'graph',
  bases: ['caisson-memory', 'caisson-directory'],
  cases: Object.entries(CASES).map(([name, asked]) => ({
    name,
    ...asked,
    trialOf: ({ graph: trials }) =>
      trials?.[name as GraphQuestion] ?? { unable: 'has nothing of the kind, or was not asked' },
  })),
}
