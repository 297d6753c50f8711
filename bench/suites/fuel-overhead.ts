/** What metering costs: the same programs on builds of the same engine, with the one from npm as the base. */
import type { Suite } from '../harness/suite.ts'
import { throughput } from './throughput.ts'

export const fuelOverhead: Suite = {
  name: 'fuel-overhead',
  description: 'One run of a program in a warm guest, on metered and unmetered builds of one engine',
  subjects: 'engine',
  bases: ['engine-unmetered'],
  summary: true,
  cases: throughput.cases,
}
