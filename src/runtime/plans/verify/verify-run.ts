/**
 * Verifies a run of a plan from its record alone: that nothing was changed, and that everything that can be done again
 * comes out the same. Changes nothing, and asks nobody in the world.
 *
 * Invariants
 * 1. The first difference in the order of the journal is named, with its place.
 * 2. What cannot be looked at again is told, and not passed over.
 * 3. At most so many programs are at work at once; nothing is waited for that the run waited for.
 */
import type { Digest } from '../../../base/digest.ts'
import { asError, CaissonError } from '../../../base/errors.ts'
import { UNDO } from '../../../graph/plan/rights-at.ts'
import { Evaluator, ExpressionFailed } from '../../../graph/run/evaluate.ts'
import type { ValueRef } from '../../../graph/run/run-event.ts'
import { RunState } from '../../../graph/run/run-state.ts'
import { RunValues } from '../../../graph/run/run-values.ts'
import { ValueVault } from '../../../graph/run/value-vault.ts'
import type { Receipt } from '../../../journal/receipt.ts'
import type { TrustedSigners } from '../../../snapshot/run-log/entry-seal.ts'
import type { RunOwner } from '../../run-owner.ts'
import { happenedIn } from '../lineage.ts'
import { expressionsOf } from '../plan-expressions.ts'
import { PlanShelf, pointOf } from '../plan-record.ts'
import { useRunKey } from '../run-key.ts'
import { receiptOf } from '../run-receipts.ts'
import type { Attempt } from './attempt.ts'
import { Attempts, type EndedAttempt } from './attempts.ts'
import { type Difference, Differs } from './difference.ts'
import { digestOfRef, EventChecks } from './event-checks.ts'
import { type Evidence, missingPoint, readEvidence } from './evidence.ts'
import { executeAgain } from './execute-again.ts'
import { GivenReceipts } from './given-receipts.ts'
import { ImageCheck } from './image-check.ts'
import { type KeyFound, readKey } from './key-check.ts'
import type { Unchecked, Verification, VerifyOptions, VerifyParts } from './verification.ts'
import { verifyCut } from './verify-cut.ts'

const DEFAULT_AT_ONCE = 4

/** @throws CaissonError `not_found`, `unsupported`, `aborted`, `store_failed` */
export async function verifyRun(
  parts: VerifyParts,
  owner: RunOwner,
  options: VerifyOptions = {},
): Promise<Verification> {
  const trusted = trustedOf(parts, options)
  const cut = await verifyCut(parts, owner, options, trusted)
  if (cut !== undefined) return cut
  const evidence = await readEvidence(parts, owner, trusted)
  const missing = missingPoint(owner, evidence, options.known ?? [])
  const image = new ImageCheck(parts, owner)
  await image.read()
  const values = new RunValues(parts.store)
  const sealing = { ...parts.sealing, ...(trusted && { trusted }) }
  const found = await readKey({ store: parts.store, sealing }, owner, proposalOf(evidence))
  const { key, erased } = found
  if (key !== undefined) values.useVault(new ValueVault(key, sealing.ports))
  const walk = new Walk(parts, owner, evidence, options, {
    image,
    values,
    key,
    unreadable: whyUnreadable(found),
  })
  await walk.walk()
  const all = [missing, evidence.damage, found.difference, image.difference, ...walk.differences].filter(
    (one) => one !== undefined,
  )
  const [difference] = all.sort((a, b) => a.position - b.position)
  const { digests, events, signed } = evidence
  return {
    ok: difference === undefined,
    difference,
    run: owner.run,
    events: events.length,
    point: pointOf(owner, { length: digests.length, digest: digests.at(-1) }),
    executed: walk.executed,
    unchecked: walk.unchecked.sort((a, b) => a.position - b.position),
    signed,
    erased,
    cut: undefined,
  }
}

function whyUnreadable({ erased, difference }: KeyFound): string | undefined {
  if (erased !== undefined) return 'Its values were erased.'
  return difference && 'Its values cannot be read: what there is of their key is not taken.'
}

function proposalOf({ events: [first] }: Pick<Evidence, 'events'>): Pick<RunState, 'proposal'> {
  return { proposal: first?.type === 'proposed' ? first : undefined }
}

/** Receipts of all attempts that have ended. @throws CaissonError `not_found`, `corrupted`, `checkpoint_refused`, `store_failed` */
export async function receiptsOf(parts: VerifyParts, owner: RunOwner): Promise<readonly Receipt[]> {
  const { events, digests, damage } = await readEvidence(parts, owner, undefined)
  if (damage !== undefined)
    throw new CaissonError('corrupted', damage.message, { details: { at: damage.position } })
  const state = await stateOf(parts, events).catch((error: unknown) => {
    if (!(error instanceof Differs)) throw error
    throw new CaissonError('corrupted', error.message, { details: { at: error.difference.position } })
  })
  const attempts = new Attempts(state)
  const values = new RunValues(parts.store)
  // Receipts name what only the values and the logs say: they are made before those are gone.
  const { key, erased } = await useRunKey(parts, owner, proposalOf({ events }), values)
  if (erased !== undefined)
    throw new CaissonError(
      'erased',
      `The values of run "${owner.run}" were erased: it gives no receipts any more.`,
    )
  const receipts: Receipt[] = []
  for (const [at, event] of events.entries()) {
    state.apply(event)
    const ended = attempts.note(event, at)
    if (ended !== undefined && !happenedIn(owner, state, at).isInherited)
      receipts.push(await receiptOf({ parts, owner, state, values, key }, ended, digests[at] as Digest))
  }
  return receipts
}

function trustedOf(
  { signatures }: VerifyParts,
  { signers = [], receipts = [] }: VerifyOptions,
): TrustedSigners | undefined {
  if (signers.length === 0) return undefined
  if (signatures !== undefined) return { check: signatures, keys: signers }
  const what = receipts.length > 0 ? 'receipts' : 'runs'
  throw new CaissonError('unsupported', `This platform has no way to check signatures of ${what}.`)
}

/** Of a program that may call what there is not here: that says nothing about the run. */
function whyNotHere(error: unknown): string {
  if (CaissonError.is(error, 'unknown_capability')) return `It cannot be executed here. ${error.message}`
  throw error
}

async function stateOf(parts: VerifyParts, events: Evidence['events']): Promise<RunState> {
  const [first] = events
  if (first?.type !== 'proposed')
    throw new Differs({
      of: 'order',
      position: 0,
      message: 'Entry 0: the journal does not begin with a proposal.',
    })
  try {
    // Read again, and not from what this process remembers.
    const { plan } = await new PlanShelf().load(parts.store, first.plan)
    return new RunState(plan)
  } catch (error) {
    if (!CaissonError.is(error) || !OF_THE_PLAN.has(error.code)) throw error
    throw new Differs({
      of: 'value',
      position: 0,
      recorded: first.plan,
      message: `Entry 0: ${error.message}`,
    })
  }
}

const OF_THE_PLAN: ReadonlySet<string> = new Set([
  'not_found',
  'corrupted',
  'invalid_plan',
  'value_too_large',
])

interface WalkParts {
  readonly image: ImageCheck
  readonly values: RunValues
  readonly key: Uint8Array | undefined
  /** Why there are no values to look at. */
  readonly unreadable: string | undefined
}

/** Goes through a journal once, and has what can be done again done. */
class Walk {
  readonly differences: Difference[] = []
  readonly unchecked: Unchecked[] = []
  executed = 0
  readonly #parts: VerifyParts
  readonly #owner: RunOwner
  readonly #evidence: Evidence
  readonly #image: ImageCheck
  readonly #options: VerifyOptions
  readonly #values: RunValues
  /** Of the run, where it has one. */
  readonly #key: Uint8Array | undefined
  readonly #unreadable: string | undefined
  readonly #signal: AbortSignal
  readonly #working = new Set<Promise<void>>()
  #failure: unknown

  constructor(
    parts: VerifyParts,
    owner: RunOwner,
    evidence: Evidence,
    options: VerifyOptions,
    { image, values, key, unreadable }: WalkParts,
  ) {
    this.#image = image
    this.#parts = parts
    this.#owner = owner
    this.#evidence = evidence
    this.#options = options
    this.#values = values
    this.#key = key
    this.#unreadable = unreadable
    this.#signal = options.signal ?? new AbortController().signal
  }

  async walk(): Promise<void> {
    await this.#differing(0, () => this.#walk())
    await Promise.all(this.#working)
    if (this.#failure !== undefined) throw asError(this.#failure)
  }

  async #walk(): Promise<void> {
    const parts = this.#parts
    const { events, digests } = this.#evidence
    const state = await stateOf(parts, events)
    const expression = expressionsOf({
      runProgram: parts.runProgram,
      startedAtMs: () => state.startedAtMs ?? 0,
      whose: { domain: this.#owner.tenant, principal: this.#owner.principal },
    })
    const signal = this.#signal
    const values = this.#values
    const checks = new EventChecks({ owner: this.#owner, state, values, expression, digests, signal })
    const evaluator = new Evaluator(state, values, expression)
    const attempts = new Attempts(state)
    const receipts = new GivenReceipts(this.#options.receipts ?? [])
    for (const [at, event] of events.entries()) {
      if (signal.aborted) throw new CaissonError('aborted', 'Verifying was stopped.')
      const isSo = await this.#differing(at, async () => {
        await this.#unlessErased(() => checks.check(event, at))
        try {
          state.apply(event)
        } catch (error) {
          if (!CaissonError.is(error)) throw error
          throw new Differs({ of: 'order', position: at, message: `Entry ${at}: ${error.message}` })
        }
        this.#image.check(state, digests[at])
        const ended = attempts.note(event, at)
        if (ended === undefined) return
        if (!happenedIn(this.#owner, state, at).isInherited && receipts.wants(at)) {
          const isErased = this.#unreadable !== undefined
          const receipt = await receiptOf(
            { parts, owner: this.#owner, state, values, key: this.#key, isErased },
            ended,
            digests[at] as Digest,
          )
          await receipts.check(receipt, this.#options.signers ?? [], parts.signatures, isErased)
        }
        await this.#execute(state, ended, evaluator)
      })
      // What follows a difference follows from something else than what was recorded.
      if (!isSo) return
    }
    receipts.checkAllMet(events.length)
  }

  /** Begins to execute a program again, as soon as there is room. */
  async #execute(state: RunState, ended: EndedAttempt, evaluator: Evaluator): Promise<void> {
    const { path, program, position, ran } = ended
    if (program === undefined) return
    if (this.#unreadable !== undefined) {
      this.unchecked.push({ node: path, position, why: this.#unreadable })
      return
    }
    if (ran === undefined) {
      this.unchecked.push({ node: path, position, why: 'What executed it is not on record.' })
      return
    }
    const attempt: Attempt = {
      path,
      node: program,
      attempt: ended.attempt,
      atMs: ended.guestAtMs,
      input: await this.#inputOf(ended, evaluator),
      position,
      ran,
      fuel: ended.fuel,
      ended:
        ended.error === undefined
          ? { ok: true, output: ended.output && digestOfRef(ended.output) }
          : { ok: false, error: ended.error },
    }
    while (this.#working.size >= (this.#options.concurrency ?? DEFAULT_AT_ONCE))
      await Promise.race(this.#working)
    const work = this.#again(state, attempt).finally(() => this.#working.delete(work))
    this.#working.add(work)
  }

  /** Never rejects. */
  async #again(state: RunState, attempt: Attempt): Promise<void> {
    const parts = this.#parts
    const { engine } = parts
    const { thread } = this.#options
    const { owner, id, isInherited } = happenedIn(this.#owner, state, attempt.position)
    try {
      await this.#differing(attempt.position, async () => {
        const why = await executeAgain(
          {
            parts,
            owner,
            id,
            isInherited,
            state,
            values: this.#values,
            key: this.#key,
            engine,
            thread,
            signal: this.#signal,
          },
          attempt,
        ).catch(whyNotHere)
        if (why === undefined) this.executed += 1
        else this.unchecked.push({ node: attempt.path, position: attempt.position, why })
      })
    } catch (error) {
      this.#failure ??= error
    }
  }

  async #inputOf({ path, node, input }: EndedAttempt, evaluator: Evaluator): Promise<ValueRef> {
    if (input !== undefined || !path.endsWith(UNDO)) return input ?? { value: null }
    const compensate = 'compensate' in node.node ? node.node.compensate : undefined
    const overrides = { output: node.output ?? { value: null } }
    return {
      value: await evaluator.evaluate(
        compensate?.input ?? null,
        node.scope,
        { signal: this.#signal },
        overrides,
      ),
    }
  }

  /** What needs a value that was erased cannot be looked at any more: that the values are gone is told. */
  async #unlessErased(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (this.#unreadable === undefined || !CaissonError.is(error, 'erased')) throw error
    }
  }

  /** Whether nothing differed. What differs is kept; what else is thrown is thrown. */
  async #differing(at: number, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      if (error instanceof Differs) this.differences.push(error.difference)
      else if (error instanceof ExpressionFailed) {
        const message = `Entry ${at}: an expression that had a value fails when it is evaluated again. ${error.message}`
        this.differences.push({ of: 'condition', position: at, message })
      } else throw error
      return false
    }
  }
}
