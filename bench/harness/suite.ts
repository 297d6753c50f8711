/** A suite: a family of cases that every subject which can does in turn. */
import type { Subject } from '../subjects/subject.ts'
import type { Ability, Trial } from './trial.ts'

/** What the figures of a case count. */
export type Unit = 'ns' | 'bytes' | 'differences' | 'times' | 'syncs'

export interface Case {
  /** Unique in its suite; shown in tables and used by figures. */
  readonly name: string
  /** One sentence: what one operation is. */
  readonly description: string
  readonly unit?: Unit
  /** At most so many rounds, where one operation of a subject takes seconds. */
  readonly rounds?: number
  /** The trial of a subject, or why it has none. */
  readonly trialOf: (subject: Subject) => Ability<() => Trial | Promise<Trial>>
}

export interface Suite {
  /** Kebab-case; what `npm run bench -- NAME` takes. */
  readonly name: string
  readonly description: string
  /** Which kind of subject takes part: whole sandboxes, or builds of the engine. */
  readonly subjects: Subject['kind']
  /** The subjects that others are compared with, the first one present in a case being its base. */
  readonly bases: readonly string[]
  /** Also print the geometric mean of each subject's ratios over all cases. */
  readonly summary?: boolean
  readonly cases: readonly Case[]
}
