/**
 * Runs of plans of one runtime: proposed, found again, and each driven by one at a time.
 *
 * Invariant: of a run this process holds the lease at most once, however many objects there are of it here.
 */
import { toHex } from '../../base/bytes.ts'
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { ruleOf } from '../../graph/plan/authority.ts'
import { type DefinedPlan, definePlan } from '../../graph/plan/define-plan.ts'
import { type RecordedEvent, RUN_FORMAT, SEALED_RUN_FORMAT } from '../../graph/run/run-event.ts'
import { RunValues } from '../../graph/run/run-values.ts'
import { ENDED } from '../../graph/run/transitions.ts'
import { VAULT_KEY_BYTES, ValueVault } from '../../graph/run/value-vault.ts'
import { Journal } from '../../journal/journal.ts'
import { type SignedReceipt, signReceipt } from '../../journal/receipt.ts'
import { isRunName } from '../check-options.ts'
import type { PlanStatus } from '../plan-summary.ts'
import { DEFAULT_DOMAIN, type RunOwner } from '../run-owner.ts'
import {
  checkBytes,
  checkCompact,
  checkErase,
  checkFork,
  checkPlanToCheck,
  checkPropose,
  checkVerify,
  checkWhose,
} from './check-plan-options.ts'
import type { ForkOptions } from './fork-run.ts'
import { KnownStandings } from './known-standings.ts'
import { LiveRun } from './live-run.ts'
import { refusePartName } from './part-names.ts'
import { PlanShelf, planBytes } from './plan-record.ts'
import type {
  CheckPlanOptions,
  CompactOptions,
  EraseOptions,
  PlanRun,
  PlanRunOptions,
  Proposed,
  ProposeOptions,
} from './plan-run.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import { checkWasm, givenWasm, keepWasm } from './plan-wasm.ts'
import { keepStanding, readStanding } from './read-standing.ts'
import { readCut } from './run-cut.ts'
import { RunHold } from './run-hold.ts'
import { isSealed, runKeyOf, writeRunKey } from './run-key.ts'
import { StoredPlanRun } from './stored-plan-run.ts'
import { ValueShelves } from './value-shelves.ts'
import type { Verification, VerifyOptions } from './verify/verification.ts'

/** In characters: programs and shelves of a run add to its name. */
export const LONGEST_RUN_NAME = 90
const RANDOM_NAME_BYTES = 6
const ID_BYTES = 16

/** What a journal begins with. */
interface FirstEvents {
  readonly events: readonly RecordedEvent[]
  /** Values that they name. */
  readonly stored: readonly Digest[]
  readonly status: PlanStatus
}

/** What the runtime lends to all of them. */
export type PlanRunsParts = Omit<PlanRunParts, 'changed' | 'plans' | 'standings'>

export class PlanRuns {
  readonly #parts: Omit<PlanRunParts, 'changed'>
  readonly #live = new Map<string, LiveRun>()
  #closed = false

  constructor(parts: PlanRunsParts) {
    this.#parts = {
      ...parts,
      plans: new PlanShelf(parts.sealing.ports.hash),
      standings: new KnownStandings(),
    }
  }

  async propose(proposed: Proposed, options: ProposeOptions): Promise<PlanRun> {
    this.#checkOpen()
    checkPropose(proposed, options)
    const plan = planOf(proposed)
    const { by, input = null, wasm = [] } = options
    const { entropy } = this.#parts
    const run = options.run ?? this.#nameFor(plan)
    const owner = ownerOf(run, options)
    const given = givenWasm(plan.plan, wasm, this.#parts)
    await checkWasm(plan.plan, given, this.#parts)
    const tools = this.#parts.tools((plan.plan.grants ?? []).map((grant) => ruleOf(grant).capability))
    const { scope, sealing } = this.#parts
    const { erasable = sealing.keys?.encryption !== undefined } = options
    const proposal = {
      type: 'proposed',
      format: erasable ? SEALED_RUN_FORMAT : RUN_FORMAT,
      id: toHex(entropy.bytes(ID_BYTES)),
      ...(scope.length > 0 && { scope }),
    } as const
    await this.#write(owner, plan, async (values, hold) => {
      if (erasable) values.useVault(await this.#newVault(owner, entropy.bytes(VAULT_KEY_BYTES), hold))
      const guests = await keepWasm(this.#parts, plan.plan, given)
      const kept = await values.keep(input)
      const timeMs = this.#parts.hostClock.now()
      const event = { ...proposal, plan: plan.digest, input: kept, tools, by, timeMs }
      return { events: [event], stored: [...guests, ...values.takeAdded()], status: 'proposed' }
    })
    this.#parts.plans.add(plan)
    return new StoredPlanRun(this.#liveRun(owner), plan)
  }

  /** Of a plan that nobody proposes yet. */
  async check(proposed: Proposed, options: CheckPlanOptions): Promise<DefinedPlan> {
    this.#checkOpen()
    checkPlanToCheck(proposed, options)
    const plan = planOf(proposed)
    await checkWasm(plan.plan, givenWasm(plan.plan, options.wasm ?? [], this.#parts), this.#parts)
    return plan
  }

  async open(run: string, options: PlanRunOptions): Promise<PlanRun> {
    this.#checkOpen()
    checkWhose(options)
    const owner = ownerOf(run, options)
    const standing = await readStanding(this.#parts, owner)
    const { plan, state } = standing
    keepStanding(this.#parts, owner, standing)
    this.#checkOpen()
    const hasEnded = ENDED.has(state.status ?? 'proposed')
    // Nothing is driven any more: nobody else has to find this object.
    return new StoredPlanRun(hasEnded ? new LiveRun(this.#parts, owner) : this.#liveRun(owner), plan)
  }

  async fork(run: string, options: ForkOptions): Promise<PlanRun> {
    this.#checkOpen()
    checkFork(options)
    const { entropy } = this.#parts
    const source = ownerOf(run, options)
    const id = toHex(entropy.bytes(ID_BYTES))
    const { forkRun } = await import('./past-runs.ts')
    const { plan, events, stored } = await forkRun(this.#parts, source, options, id)
    const name = options.run ?? this.#nameFor(plan)
    const owner = ownerOf(name, options)
    const status = events.length === 1 ? 'proposed' : 'frozen'
    const [first] = events
    const isFork = { proposal: first?.type === 'proposed' ? first : undefined }
    await this.#write(owner, plan, async (_values, hold) => {
      // It has the values of the other one, and a key of its own to destroy.
      if (isSealed(isFork)) await this.#newVault(owner, await this.#keyOf(source), hold)
      return { events, stored, status }
    })
    return new StoredPlanRun(this.#liveRun(owner), plan)
  }

  async verify(run: string, options: VerifyOptions): Promise<Verification> {
    this.#checkOpen()
    checkVerify(options)
    const { verifyRun } = await import('./past-runs.ts')
    return verifyRun(this.#parts, ownerOf(run, options), options)
  }

  async receipts(run: string, options: PlanRunOptions): Promise<readonly SignedReceipt[]> {
    this.#checkOpen()
    checkWhose(options)
    const { receiptsOf } = await import('./past-runs.ts')
    const signed: SignedReceipt[] = []
    for (const receipt of await receiptsOf(this.#parts, ownerOf(run, options)))
      signed.push(await signReceipt(receipt, this.#parts.sealing.signer))
    return signed
  }

  async erase(run: string, options: EraseOptions): Promise<void> {
    this.#checkOpen()
    checkErase(options)
    const { eraseRun } = await import('./past-runs.ts')
    await eraseRun(this.#parts, ownerOf(run, options), options)
  }

  async compact(run: string, options: CompactOptions): Promise<void> {
    this.#checkOpen()
    checkCompact(options)
    const { compactRun } = await import('./past-runs.ts')
    await compactRun(this.#parts, ownerOf(run, options), options.by)
  }

  async #newVault(owner: RunOwner, key: Uint8Array, hold: RunHold): Promise<ValueVault> {
    await writeRunKey(this.#parts, owner, key, hold)
    return new ValueVault(key, this.#parts.sealing.ports)
  }

  /** @throws CaissonError `erased` */
  async #keyOf(owner: RunOwner): Promise<Uint8Array> {
    const { key } = await runKeyOf(this.#parts, owner)
    if (key === undefined) throw new CaissonError('erased', `The values of run "${owner.run}" were erased.`)
    return key
  }

  async export(run: string, options: PlanRunOptions): Promise<Uint8Array> {
    this.#checkOpen()
    checkWhose(options)
    const { exportRun } = await import('./past-runs.ts')
    return exportRun(this.#parts, ownerOf(run, options))
  }

  async import(bytes: Uint8Array, options: PlanRunOptions): Promise<PlanRun> {
    this.#checkOpen()
    checkBytes(bytes)
    checkWhose(options)
    // They must not change while they are looked at.
    const copied = new Uint8Array(bytes)
    const { readExport, writeImport } = await import('./past-runs.ts')
    const read = await readExport(this.#parts, copied, ownerOf('imported', options))
    const { run } = read.exported
    const owner = ownerOf(run, options)
    this.#checkOpen()
    await writeImport(this.#parts, read)
    const { plan } = read.standing
    this.#parts.plans.add(plan)
    return new StoredPlanRun(this.#liveRun(owner), plan)
  }

  /** Brings all runs to rest: they are taken up where they are by whoever resumes them. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#live.values()].map((live) => live.stop()))
  }

  /** The head comes first: what the journal names is on its list. */
  async #write(
    owner: RunOwner,
    plan: DefinedPlan,
    make: (values: RunValues, hold: RunHold) => Promise<FirstEvents>,
  ): Promise<void> {
    const { store, sealing } = this.#parts
    const { run, tenant } = owner
    const hold = await RunHold.take(this.#parts, run)
    const { lease } = hold
    try {
      const head = await store.head(run)
      if (await isThere(this.#parts, owner)) throw alreadyThere(run)
      const { events, stored, status } = await make(new RunValues(store), hold)
      await store.putBlob(plan.digest, planBytes(plan))
      const shelves = new ValueShelves({ store, run, plan: plan.digest, lease, head })
      const { name, version } = plan.plan
      await shelves.add(stored)
      await shelves.tell({
        kind: 'plan',
        status,
        plan: { name, version, digest: plan.digest },
        atMs: this.#parts.hostClock.now(),
      })
      const journal = await Journal.open({ store, run, tenant, sealing }, lease, () => {
        throw alreadyThere(run)
      })
      for (const event of events) journal.add(event)
      await journal.flush()
    } finally {
      await hold.giveBack()
    }
  }

  #liveRun(owner: RunOwner): LiveRun {
    const key = JSON.stringify([owner.tenant, owner.principal, owner.run])
    const known = this.#live.get(key)
    if (known !== undefined) return known
    const live: LiveRun = new LiveRun(this.#parts, owner, () => {
      if (this.#live.get(key) === live) this.#live.delete(key)
    })
    this.#live.set(key, live)
    // Asked for before the runtime was closed.
    if (this.#closed) void live.stop()
    return live
  }

  #nameFor({ plan }: DefinedPlan): string {
    return `${plan.name}-${toHex(this.#parts.entropy.bytes(RANDOM_NAME_BYTES))}`
  }

  #checkOpen(): void {
    if (this.#closed) throw new CaissonError('disposed', 'The runtime was closed.')
  }
}

function planOf(proposed: Proposed): DefinedPlan {
  return 'digest' in proposed && 'plan' in proposed ? definePlan(proposed.plan) : definePlan(proposed)
}

function ownerOf(run: string, { domain = DEFAULT_DOMAIN, principal = '' }: PlanRunOptions): RunOwner {
  if (isRunName(run) && run.length <= LONGEST_RUN_NAME) {
    refusePartName(run)
    return { tenant: domain, principal, run }
  }
  throw new CaissonError(
    'invalid_argument',
    `A run of a plan has a name of 1 to ${LONGEST_RUN_NAME} characters of A-Z a-z 0-9 . _ -, not beginning with a dot.`,
    { details: { option: 'run' } },
  )
}

/** With its journal, or with what stands in its place. */
async function isThere(parts: Pick<PlanRunParts, 'store' | 'sealing'>, owner: RunOwner): Promise<boolean> {
  return (
    (await parts.store.entries(owner.run, 0, 1)).length > 0 || (await readCut(parts, owner)) !== undefined
  )
}

function alreadyThere(run: string): CaissonError {
  return new CaissonError('already_exists', `There is a run "${run}" already: choose another name.`, {
    details: { run },
  })
}
