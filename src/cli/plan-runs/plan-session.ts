/** A store and a runtime for one command about a run of a plan: opened, and closed again whatever happens. */
import { openRuntime } from '../../entry/node.ts'
import type { RunStore } from '../../ports/run-store.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { readKeyFile } from '../kept/key-file.ts'
import { checkKeysOutOfReach } from '../kept/keys-out-of-reach.ts'
import { makeStore, openStore } from '../kept/open-store.ts'
import { requireStore } from '../kept/require-store.ts'
import { readSignKey } from '../kept/sign-key.ts'
import { pathsOfPlace } from '../kept/store-place.ts'
import { openPreparedCache } from '../modules/prepared-cache.ts'
import { findPackageRoot } from '../package-root.ts'
import { withOwnTools } from '../plan/own-tools.ts'
import { grantRights, type Rights } from '../run/grant-rights.ts'
import { scopeWithin } from '../run/right-scope.ts'
import { ToolFailures } from '../run/tool-failures.ts'
import { approvedScope } from './approved-scope.ts'
import { planRefusalOf } from './plan-refusal.ts'

/** Of a program of a plan, engine included. */
const MOST_MEMORY = 256 * 1024 * 1024

export interface PlanSession {
  readonly runtime: Runtime
  readonly store: RunStore
  /** As it may be shown and typed again. */
  readonly storeName: string
  readonly given: GivenFlags
  readonly io: CliIo
  /** Names of what there is to call. */
  readonly capabilities: readonly string[]
  /** Why tools failed, for whoever wrote them. */
  readonly failures: ToolFailures
}

export interface PlanSessionOptions {
  /** The command, for messages: `plan start`. */
  readonly command: string
  /** The run that it is about, where one is named. */
  readonly run?: string | undefined
  /** Whether the flags of rights are those of the command. */
  readonly tools: boolean
  /** Whether the store is made where it is missing. */
  readonly makes?: boolean
}

/** @throws CliError */
export async function inPlanSession<T>(
  given: GivenFlags,
  io: CliIo,
  { command, run, tools, makes = false }: PlanSessionOptions,
  work: (session: PlanSession) => Promise<T>,
): Promise<T> {
  const place = requireStore(given, command, io.cwd)
  const keys = await readKeyFile(given.value('key-file'), io.cwd)
  const sign = await readSignKey(given.value('sign-key'), io.cwd)
  const store = await (makes ? makeStore : openStore)(place)
  let rights: Rights | undefined
  try {
    // Of what is proposed only now there is none.
    const approved = run === undefined || makes ? undefined : await approvedScope(store, keys, run)
    rights = tools
      ? await grantRights(given, pathsOfPlace(place), io.cwd, approved && { scope: approved })
      : undefined
    await checkKeysOutOfReach(given, rights?.scope ?? [], io.cwd)
    const capabilities = withOwnTools(rights?.capabilities ?? [])
    const failures = new ToolFailures(rights?.tools ?? [], findPackageRoot().code)
    // What goes on with a run prepares the WebAssembly of its nodes, unless another process did.
    const preparedCache = tools ? await openPreparedCache() : undefined
    try {
      const runtime = await openRuntime({
        store,
        capabilities,
        ...(preparedCache && { preparedCache }),
        ...(sign && { receipts: { sign, states: true } }),
        scope: scopeWithin(rights?.scope ?? [], approved ?? []),
        maxMemoryBytes: MOST_MEMORY,
        checkpoints: { keys, limits: { maxMemoryBytes: MOST_MEMORY, maxFileBytes: MOST_MEMORY } },
        onCapabilityError: (failure) => failures.add(failure),
      })
      try {
        const names = capabilities.map(({ name }) => name)
        return await work({ runtime, store, storeName: place.name, given, io, capabilities: names, failures })
      } finally {
        await runtime.close()
      }
    } catch (error) {
      throw planRefusalOf(error, { store: place.name, run })
    }
  } finally {
    await rights?.close()
    await store.close()
  }
}
