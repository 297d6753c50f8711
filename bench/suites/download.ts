/** What a page downloads before its first guest can run. */
import type { Suite } from '../harness/suite.ts'

export const download: Suite = {
  name: 'download',
  description:
    'The browser entry, bundled and minified, and one engine profile, each compressed with gzip -9',
  subjects: 'sandbox',
  bases: ['caisson'],
  cases: [
    {
      name: 'code and engine',
      description: 'bytes over the wire',
      unit: 'bytes',
      trialOf: (subject) => subject.download ?? { unable: 'not measured: its parts are chosen by its user' },
    },
  ],
}
