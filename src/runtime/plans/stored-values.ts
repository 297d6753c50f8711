/** What the events of a run name in the store: values, and pieces of them. */
import { type Digest, isDigest } from '../../base/digest.ts'
import type { RecordedEvent } from '../../graph/run/run-event.ts'
import { refsOf } from './verify/event-checks.ts'

export function storedOf(events: readonly RecordedEvent[]): readonly Digest[] {
  const stored = new Set<Digest>()
  for (const event of events) {
    for (const ref of refsOf(event)) {
      if (!('digest' in ref)) continue
      const { digest, pieces = [digest] } = ref as { digest: Digest; pieces?: readonly string[] }
      for (const piece of pieces) if (isDigest(piece)) stored.add(piece)
    }
  }
  return [...stored]
}
