/** A subject of the graph suite: it has no guest that could be asked for anything else. */
import type { GraphTrials, Subject } from '../subjects/subject.ts'

const NO_GUEST = { unable: 'runs graphs of steps, and has no guest' }

export function graphSubject(about: Pick<Subject, 'id' | 'version' | 'note'>, graph: GraphTrials): Subject {
  return {
    ...about,
    kind: 'graph',
    acquire: NO_GUEST,
    firstResult: NO_GUEST,
    hostCall: () => NO_GUEST,
    throughput: () => NO_GUEST,
    graph,
  }
}
