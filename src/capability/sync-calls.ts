/**
 * The gate inside a turn: the stages of `gate.ts` for `sync` capabilities, each call compiled once per grant.
 *
 * Left out are the stages that wait, which the definition rules out (approval, timeout, retry), and the lease,
 * because nothing is changed by a read.
 *
 * Invariants
 * 1. Never throws: the frames below are the guest's.
 * 2. Never hands out a promise, a getter or a proxy: results are primitives or plain copies.
 * 3. The path of a call without conditions allocates nothing (bench: `npm run bench`, host call).
 */
import type { SyncCallRecord } from '../ports/call-log.ts'
import { DEFAULT_VALUE_LIMITS } from '../values/limits.ts'
import type { SyncCalls } from './call.ts'
import { Refusal } from './call.ts'
import { authorise } from './gate/authorise.ts'
import { checkResultNow } from './gate/check-result.ts'
import type { GateParts } from './gate/gate-parts.ts'
import { isThenable } from './gate/is-thenable.ts'
import type { Passage } from './gate/passage.ts'
import { redact } from './gate/redact.ts'
import { refuse } from './gate/refuse.ts'
import { reserve } from './gate/reserve.ts'
import { SyncRecord } from './gate/sync-record.ts'
import { validateInputNow } from './gate/validate-input.ts'

/** `SyncCalls`, and what they leave to be recorded when the turn has ended. */
export interface GatedSyncCalls extends SyncCalls {
  /** The calls since the last time, oldest first; always empty without a log that takes them. */
  takeRecords(): readonly SyncCallRecord[]
}

type Compiled = (args: unknown, argBytes: number) => unknown

/** `passages` in the order of indexes. */
export function createSyncCalls(passages: readonly Passage[], parts: GateParts): GatedSyncCalls {
  const record = parts.callLog?.syncCalls === undefined ? undefined : new SyncRecord()
  const compiled = passages.map((passage) => compile(passage, parts, record))
  return {
    call(index, args, argBytes) {
      // The index comes out of guest memory: anything may stand there.
      const call = compiled[index]
      return call === undefined
        ? refuse('unknown_capability', 'There is no capability with this index.')
        : call(args, argBytes)
    },
    takeRecords: () => record?.take() ?? [],
  }
}

function compile(passage: Passage, parts: GateParts, record: SyncRecord | undefined): Compiled {
  const { name, capability, grant, account } = passage
  if (capability.sync !== true) {
    const refusal = refuse('denied', `"${name}" must be awaited.`)
    return () => refusal
  }
  const { invoke, input, output, cost } = capability
  const { rule } = grant
  const maxBytes = parts.resultLimits.bytes

  const invokeContained = (args: unknown): unknown => {
    try {
      return deliver(invoke(args))
    } catch (error) {
      return redact(capability, error, 0, parts)
    }
  }

  /** What the guest gets for what the implementation returned. May throw what a hostile result throws. */
  const deliver = (value: unknown): unknown => {
    if (isThenable(value)) {
      // Nobody will ask for its rejection. Only of a promise: what another thenable does when asked has no end.
      if (value instanceof Promise) value.then(undefined, () => {})
      throw new TypeError(`Sync "${name}" returned a promise; leave \`sync\` out of its definition.`)
    }
    const result = checkResultNow(passage, value, parts)
    if (result instanceof Refusal) return result
    if (account.receive(result.bytes)) return result.value
    return refuse('budget_exhausted', `The bytes of results of "${name}" are used up.`, { unit: 'bytesIn' })
  }

  /** Every stage: for calls with conditions, and for arguments that must be copied. */
  const callInFull: Compiled = (args, argBytes) => {
    try {
      if (record?.full)
        return refuse('budget_exhausted', 'Too many sync calls in one turn.', { unit: 'calls' })
      const final = validateInputNow(passage, args, parts)
      if (final instanceof Refusal) return final
      const result =
        authorise(passage, final, 0, parts) ??
        reserve(passage, final, argBytes, 0, parts) ??
        invokeContained(final.copy())
      record?.add(name, final, result)
      return result
    } catch (cause) {
      // No stage throws; if one does, it is a defect of ours, and the guest's frames are spared all the same.
      return redact(capability, cause, 0, parts)
    }
  }

  // Arguments are the machine's fresh copy: where no schema, condition or record keeps them, the implementation
  // may have them as they are. They are copied where bounds of our own, or a record, ask for it.
  const takesObjects = record === undefined && parts.argsLimits === DEFAULT_VALUE_LIMITS

  const hasConditions =
    input !== undefined ||
    output !== undefined ||
    cost !== undefined ||
    rule.constrain !== undefined ||
    rule.rate !== undefined ||
    rule.within !== undefined
  if (hasConditions) return callInFull

  /** The same stages where most of them are empty. Whatever is not a plain success goes the full way. */
  return (args, argBytes) => {
    if (
      (!takesObjects && typeof args === 'object' && args !== null) ||
      account.calls >= account.callsLimit ||
      account.bytesOut + argBytes > account.bytesOutLimit ||
      grant.revoked ||
      record?.full
    ) {
      return callInFull(args, argBytes)
    }
    account.calls += 1
    account.bytesOut += argBytes
    let result: unknown
    try {
      result = invoke(args)
      const bytes = plainBytes(result)
      if (bytes <= maxBytes && account.bytesIn + bytes <= account.bytesInLimit) account.bytesIn += bytes
      else result = deliver(result)
    } catch (error) {
      result = redact(capability, error, 0, parts)
    }
    record?.add(name, args, result)
    return result
  }
}

/** Canonical size of a primitive that needs neither be walked nor copied; infinite for everything else. */
function plainBytes(value: unknown): number {
  switch (typeof value) {
    case 'number':
    case 'boolean':
    case 'undefined':
      return 8
    case 'string':
      return value.length
    default:
      return value === null ? 8 : Number.POSITIVE_INFINITY
  }
}
