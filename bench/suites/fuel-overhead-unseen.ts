/** What metering costs programs that took no part in placing its charges. */
import type { Suite } from '../harness/suite.ts'
import { UNSEEN_PROGRAMS } from '../subjects/programs.ts'
import { fuelOverhead } from './fuel-overhead.ts'

export const fuelOverheadUnseen: Suite = {
  ...fuelOverhead,
  name: 'fuel-overhead-unseen',
  description: 'As fuel-overhead, on programs that the placement of charges was not measured on',
  cases: UNSEEN_PROGRAMS.map((program) => ({
    name: program.name,
    description: `programs-unseen/${program.name}.js`,
    trialOf: (subject) => subject.throughput(program),
  })),
}
