/**
 * What a turn of a waiting guest costs that does nothing in it: the host settles its call, and it waits for the next
 * one. At its end the host looks for memory that the guest freed (`src/isolate/heap-sweep.ts`); what that costs shows
 * in the difference between a small heap and the others.
 */
import type { Suite } from '../harness/suite.ts'

/** What a guest did before its turns, and what it does in each. */
const GUESTS: Readonly<Record<string, readonly [before: string, round: string]>> = {
  'a small heap': ['', '0'],
  '14 MB in use': ["const live = Array.from({ length: 1e5 }, (_, i) => ({ i, name: 'object ' + i }))", '0'],
  '14 MB freed': ['new Uint8Array(14e6).fill(7)', '0'],
  '14 MB freed in 1,000 pieces': [
    'let all = Array.from({ length: 1000 }, (_, i) => [new Uint8Array(14e3).fill(7), { i }]); const live = all.map((pair) => pair[1]); all = 0',
    '0',
  ],
  '14 MB written and freed': ['', 'new Uint8Array(14e6).fill(7).length'],
}

export const turn: Suite = {
  name: 'turn',
  description: 'A turn of a guest that waits: its call is settled, and it waits for the next one',
  subjects: 'sandbox',
  bases: ['caisson'],
  cases: Object.entries(GUESTS).map(([name, [before, round]]) => ({
    name,
    description: `${before}; each turn: ${round}`,
    trialOf: (subject) =>
      subject.turn?.(before, round) ?? { unable: 'is not parked between turns: not tried' },
  })),
}
