/** One look at every body before any is rewritten: whom it calls, what it uses, how large its frame is. */
import type { CodeContext } from './code-context.ts'
import { decodeBody } from './decode-body.ts'
import { DecodedBody } from './decoded-body.ts'
import type { Module } from './module.ts'
import { FEATURES, OP } from './opcode-table.ts'

/** What the pass needs to know about a function before it rewrites any. */
export interface FunctionSummary {
  /** Functions called by name, imports included, without repetition. */
  readonly callees: readonly number[]
  /** Type indices of calls through tables and references, without repetition. */
  readonly indirectTypes: readonly number[]
  /** Whether it may leave by a tail call: its frame, and what it counted, is then gone while the callee runs. */
  readonly tailCalls: boolean
  readonly throws: boolean
  readonly catches: boolean
  readonly instructions: number
  /** An upper estimate of the native frame, in bytes: baseline compilers keep each local and operand in it. */
  readonly frameBytes: number
}

/** Summaries of all defined functions, and the features that code uses (names of `FEATURES`). */
export interface ModuleScan {
  readonly functions: readonly FunctionSummary[]
  readonly features: ReadonlySet<string>
  /** What instructions write that neither a memory nor a global shows. */
  readonly hiddenState: ReadonlySet<HiddenState>
}

/** State of an instance that cannot be read from outside: entries of tables, segments that were dropped. */
export type HiddenState = 'tables' | 'dropped segments'

/** Return address, frame pointer, instance, and what an engine adds. */
const FRAME_OVERHEAD = 64
const SLOT_BYTES = 8
const VECTOR_SLOT_BYTES = 16
const VECTOR_BIT: number = 1 << FEATURES.indexOf('simd')

/**
 * Whether an exception may end calls while the instance lives on: the module throws or catches, or its host says
 * that imports may throw through it. A trap is different: it ends the instance.
 */
export function mayUnwind(scan: ModuleScan, importsMayThrow: boolean): boolean {
  return importsMayThrow || scan.functions.some((summary) => summary.throws || summary.catches)
}

/** Decodes every body once, which also checks it. */
export function scanModule(module: Module, context: CodeContext): ModuleScan {
  const steps = scanSteps(module, context)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** As `scanModule`; yields how many bodies are done. */
export function* scanSteps(module: Module, context: CodeContext): Generator<number, ModuleScan, void> {
  const body = new DecodedBody()
  let features = 0
  const functions: FunctionSummary[] = []
  const hiddenState = new Set<HiddenState>()
  for (const bytes of module.bodies) {
    decodeBody(context, bytes, context.importedFunctions + functions.length, body)
    features |= body.features
    functions.push(summarise(body, hiddenState))
    yield functions.length
  }
  const used = new Set<string>()
  for (const [bit, name] of FEATURES.entries()) if (bit > 0 && (features & (1 << bit)) !== 0) used.add(name)
  return { functions, features: used, hiddenState }
}

function summarise(body: DecodedBody, hiddenState: Set<HiddenState>): FunctionSummary {
  const callees = new Set<number>()
  const indirectTypes = new Set<number>()
  let tailCalls = false
  let throws = false
  let catches = false
  for (let at = 0; at < body.length; at++) {
    switch (body.opcodes.at(at)) {
      case OP.returnCall:
        tailCalls = true
        callees.add(body.first.at(at))
        break
      case OP.call:
        callees.add(body.first.at(at))
        break
      case OP.returnCallIndirect:
      case OP.returnCallRef:
        tailCalls = true
        indirectTypes.add(body.first.at(at))
        break
      case OP.callIndirect:
      case OP.callRef:
        indirectTypes.add(body.first.at(at))
        break
      case OP.throw:
      case OP.rethrow:
      case OP.throwRef:
        throws = true
        break
      case OP.try:
      case OP.tryTable:
        catches = true
        break
      case OP.tableSet:
      case OP.tableInit:
      case OP.tableCopy:
      case OP.tableGrow:
      case OP.tableFill:
        hiddenState.add('tables')
        break
      case OP.dataDrop:
      case OP.elemDrop:
        hiddenState.add('dropped segments')
        break
    }
  }
  const slot = (body.features & VECTOR_BIT) !== 0 ? VECTOR_SLOT_BYTES : SLOT_BYTES
  return {
    callees: [...callees],
    indirectTypes: [...indirectTypes],
    tailCalls,
    throws,
    catches,
    instructions: body.length,
    frameBytes: FRAME_OVERHEAD + slot * (body.locals + body.maxStack),
  }
}
