/** What a call from the guest to a host function costs, there and back. */
import type { Suite } from '../harness/suite.ts'
import { HOST_CALL_SHAPES } from '../subjects/host-call-shapes.ts'

export const hostCall: Suite = {
  name: 'host-call',
  description: "One call of a host function from a loop in the guest, the guest's share of the loop included",
  subjects: 'sandbox',
  bases: ['caisson', 'quickjs-emscripten'],
  cases: HOST_CALL_SHAPES.map((shape) => ({
    name: shape.name,
    description: shape.description,
    trialOf: (subject) => subject.hostCall(shape),
  })),
}
