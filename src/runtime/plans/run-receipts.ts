/** Receipts of a run, as they follow from its journal and from the logs of its programs. */
import { type Digest, isDigest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { kindOf } from '../../graph/plan/node-kinds.ts'
import { type GuestWork, isKept } from '../../graph/run/node-work.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import type { RunValues } from '../../graph/run/run-values.ts'
import { RECEIPT_FORMAT, type Receipt, type ReceiptCall } from '../../journal/receipt.ts'
import { digestValue } from '../../values/digest-value.ts'
import type { RunOwner } from '../run-owner.ts'
import { programRun } from './part-names.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import type { EndedAttempt } from './verify/attempts.ts'
import { digestOfRef, VALUE_LIMITS } from './verify/event-checks.ts'
import { readProgramLog } from './verify/program-log.ts'

export interface ReceiptParts {
  readonly parts: Pick<PlanRunParts, 'store' | 'sealing'>
  readonly owner: RunOwner
  readonly state: Pick<RunState, 'proposal'>
  readonly values: RunValues
  /** Of the run, where it has one. */
  readonly key: Uint8Array | undefined
  /** Its values were erased: calls of kept programs, and artifacts, are not known any more. */
  readonly isErased?: boolean
}

/** @param digest of the entry that ended it. @throws CaissonError `corrupted`, `not_found`, `store_failed` */
export async function receiptOf(
  { parts, owner, state, values, key, isErased = false }: ReceiptParts,
  ended: EndedAttempt,
  digest: Digest,
): Promise<Receipt> {
  const { path, program, ran, output, error, attempt } = ended
  const artifacts = new Set<string>()
  const isLost = isErased && program !== undefined && isKept(program)
  const calls = isLost
    ? []
    : program !== undefined && isKept(program)
      ? await loggedCalls(
          parts,
          { ...owner, run: programRun(owner.run, state.proposal?.id ?? owner.run, path, attempt) },
          key,
          ran?.log?.entries,
          artifacts,
        )
      : await madeCalls(ended, isErased ? undefined : values, artifacts)
  return {
    format: RECEIPT_FORMAT,
    tenant: owner.tenant,
    run: owner.run,
    runId: state.proposal?.id ?? '',
    node: path,
    kind: ended.kind,
    attempt,
    plan: state.proposal?.plan as Digest,
    ...(program && { program: programDigest(program) }),
    ...(ran && { engine: ran.engine }),
    input: digestOfRef(ended.input ?? { value: null }),
    calls,
    ended: ended.event,
    ...(output && { output: digestOfRef(output) }),
    ...(error && { error: { class: error.class, code: error.code } }),
    ...(program && { fuel: ended.fuel }),
    ...(ran?.state !== undefined && { state: ran.state }),
    ...(ran?.log && { log: ran.log }),
    artifacts: [...artifacts],
    startedAtMs: ended.startedAtMs,
    endedAtMs: ended.endedAtMs,
    journal: { position: ended.position, digest },
  }
}

/** Of what a program consists of; of another guest, of all that says what it does. */
function programDigest(guest: GuestWork): Digest {
  if (guest.kind !== 'program') return digestValue(kindOf(guest).identityOf(guest), VALUE_LIMITS)
  const { source = '', language, modules } = guest
  return digestValue({ source, language: language ?? null, modules: modules ?? {} }, VALUE_LIMITS)
}

async function madeCalls(
  { calls }: EndedAttempt,
  values: RunValues | undefined,
  artifacts: Set<string>,
): Promise<readonly ReceiptCall[]> {
  const made: ReceiptCall[] = []
  for (const { call, capability, args, answer } of calls) {
    const common = { call, capability, args: args as Digest | undefined }
    if (answer?.ok !== true) {
      made.push({ ...common, ...(answer && { error: answer.error.code }) })
      continue
    }
    if (values !== undefined && capability.startsWith('artifacts.'))
      addArtifacts(await values.load(answer.value), artifacts)
    made.push({ ...common, result: digestOfRef(answer.value) })
  }
  return made
}

async function loggedCalls(
  parts: ReceiptParts['parts'],
  owner: RunOwner,
  key: Uint8Array | undefined,
  most: number | undefined,
  artifacts: Set<string>,
): Promise<readonly ReceiptCall[]> {
  const { entries } = await readProgramLog(parts, owner, key, most)
  const calls = new Map<number, ReceiptCall>()
  for (const entry of entries) {
    if (entry.type === 'intent') {
      const { id, capability, args } = entry
      calls.set(id, { call: id, capability, args: digestValue(args, LOG_LIMITS) })
    } else if (entry.type === 'result') {
      const { answer } = entry
      const call = calls.get(answer.id)
      if (call === undefined) throw new CaissonError('corrupted', 'A log has an answer to no call.')
      if (answer.ok && call.capability.startsWith('artifacts.')) addArtifacts(answer.value, artifacts)
      const end = answer.ok ? { result: digestValue(answer.value, LOG_LIMITS) } : { error: answer.error.code }
      calls.set(answer.id, { ...call, ...end })
    }
  }
  return [...calls.values()]
}

/** As large as results of capabilities are. */
const LOG_LIMITS = { bytes: 80 * 1024 * 1024, nodes: 4_000_000, depth: 600 }

function addArtifacts(result: unknown, artifacts: Set<string>): void {
  const all = Array.isArray(result) ? result : [result]
  for (const one of all as readonly unknown[]) {
    const { digest } = (one ?? {}) as { readonly digest?: unknown }
    if (isDigest(digest)) artifacts.add(digest)
  }
}
