/** How fast guests compute: thirteen classic programs, each run warm in a guest that loaded it before. */
import type { Suite } from '../harness/suite.ts'
import { PROGRAMS } from '../subjects/programs.ts'

export const throughput: Suite = {
  name: 'throughput',
  description: 'One run of a program in a warm guest',
  subjects: 'sandbox',
  bases: ['quickjs-emscripten'],
  summary: true,
  cases: PROGRAMS.map((program) => ({
    name: program.name,
    description: `programs/${program.name}.js`,
    trialOf: (subject) => subject.throughput(program),
  })),
}
