/** What tools may reach by what was proposed, read before the tools are opened: directories are named as they were then. */
import { nodeCheckpointPorts } from '../../../host-bindings/system/checkpoint-ports.node.ts'
import { CaissonError } from '../../base/errors.ts'
import { parseRunEvent } from '../../graph/run/parse-run-event.ts'
import { JournalReader } from '../../journal/journal.ts'
import type { RunStore } from '../../ports/run-store.ts'
import type { CheckpointKeys } from '../../snapshot/container/checkpoint-keys.ts'
import { TENANT } from '../kept/run-place.ts'

/** Empty where the run cannot be read: what is wrong with it is said by whoever reads it next. */
export async function approvedScope(
  store: RunStore,
  keys: CheckpointKeys,
  run: string,
): Promise<readonly string[]> {
  const sealing = { ports: nodeCheckpointPorts, keys }
  try {
    const journal = { store: firstOf(store), run, tenant: TENANT, sealing }
    const [first] = await new JournalReader(journal, 0).next()
    const event = first === undefined ? undefined : parseRunEvent(first, 0)
    return (event?.type === 'proposed' ? event.scope : undefined) ?? []
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    return []
  }
}

/** Only its first entry is read. */
function firstOf(store: RunStore): Pick<RunStore, 'entries' | 'append'> {
  return {
    entries: async (run, from) => (from > 0 ? [] : store.entries(run, 0, 1)),
    append: (run, at, entries, lease) => store.append(run, at, entries, lease),
  }
}
