/** Every suite, in the order of the report. A new one is a file and a line here. */
import type { Suite } from '../harness/suite.ts'
import { acquire } from './acquire.ts'
import { checkpoint } from './checkpoint.ts'
import { component } from './component.ts'
import { deadline } from './deadline.ts'
import { download } from './download.ts'
import { firstResult } from './first-result.ts'
import { fuelOverhead } from './fuel-overhead.ts'
import { fuelOverheadUnseen } from './fuel-overhead-unseen.ts'
import { graph } from './graph.ts'
import { guest } from './guest.ts'
import { hostCall } from './host-call.ts'
import { throughput } from './throughput.ts'
import { turn } from './turn.ts'

export const SUITES: readonly Suite[] = [
  acquire,
  firstResult,
  hostCall,
  throughput,
  fuelOverhead,
  fuelOverheadUnseen,
  deadline,
  turn,
  checkpoint,
  guest,
  graph,
  component,
  download,
]
