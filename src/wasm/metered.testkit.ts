/** Metered instances for tests, and a count of executed instructions that knows nothing of placement. */
import { exported, instantiate } from './assemble.testkit.ts'
import { ByteWriter } from './byte-writer.ts'
import { codeContext } from './code-context.ts'
import { CodeWriter } from './code-writer.ts'
import { fuelCost } from './cost.ts'
import { decodeBody } from './decode-body.ts'
import { DecodedBody } from './decoded-body.ts'
import { addExport, addGlobal } from './edit.ts'
import { encodeModule } from './encode-module.ts'
import { meter } from './meter.ts'
import {
  DEPTH_EXPORT,
  FUEL_EXPORT,
  METER_NAMESPACE,
  type MeterOptions,
  type MeterReport,
  REFILL_DEPTH,
  REFILL_IMPORT,
} from './meter-options.ts'
import { OP } from './opcode-table.ts'
import { parseModule } from './parse-module.ts'
import { rewriteBody } from './rewrite-body.ts'
import { I64 } from './value-type.ts'

/** How a metered instance is run. */
export interface RunOptions extends Partial<MeterOptions> {
  /** Fuel in all; default 10^12. */
  readonly limit?: bigint
  /** Fuel per refill; default: all at once. */
  readonly slice?: bigint
  /** Depth allowance in bytes; default 10^8. */
  readonly depthBytes?: number
  readonly imports?: WebAssembly.Imports
}

/** A metered instance with its host. */
export interface MeteredInstance {
  readonly instance: WebAssembly.Instance
  readonly report: MeterReport
  call(name: string, ...args: readonly unknown[]): unknown
  /** Calls and says how it ended: `returned`, `fuel`, `depth`, or `threw`. */
  outcome(name: string, ...args: readonly unknown[]): string
  /** Fuel used so far, by the counter. */
  used(): bigint
  /** What is left of the depth allowance. */
  depth(): number
  /** Times that fuel was asked for. */
  refills(): number
}

/** Meters and instantiates. */
export function openMetered(wasm: Uint8Array, options: RunOptions = {}): MeteredInstance {
  const {
    limit = 10n ** 12n,
    slice,
    depthBytes = 100_000_000,
    imports = {},
    profile = 'v8',
    ...rest
  } = options
  const metered = meter(wasm, { profile, ...rest })
  let granted = 0n
  let refills = 0
  let stopped = ''
  const fuel = (): WebAssembly.Global => instance.exports[FUEL_EXPORT] as WebAssembly.Global
  const depth = (): WebAssembly.Global => instance.exports[DEPTH_EXPORT] as WebAssembly.Global
  const refill = (kind: number): bigint => {
    if (kind === REFILL_DEPTH) {
      stopped = 'depth'
      return -1n
    }
    refills++
    let counter = BigInt(fuel().value)
    while (counter < 0n && granted < limit) {
      const grant = slice === undefined || granted + slice > limit ? limit - granted : slice
      granted += grant
      counter += grant
    }
    if (counter >= 0n) return counter
    // The module stops without storing what it is told: the count stays right only if the host does.
    fuel().value = counter
    stopped = 'fuel'
    return counter
  }
  const instance = instantiate(metered.wasm, { ...imports, [METER_NAMESPACE]: { [REFILL_IMPORT]: refill } })
  fuel().value = 0n
  depth().value = depthBytes
  return {
    instance,
    report: metered.report,
    call: (name, ...args) => exported(instance, name)(...args),
    outcome(name, ...args) {
      stopped = ''
      try {
        exported(instance, name)(...args)
        return 'returned'
      } catch (thrown) {
        if (stopped !== '') return stopped
        return thrown instanceof WebAssembly.RuntimeError ? 'trapped' : 'threw'
      }
    },
    used: () => granted - BigInt(fuel().value),
    depth: () => Number(depth().value),
    refills: () => refills,
  }
}

const COUNT_EXPORT = 'count'

/**
 * Fuel by counting before every single instruction, without what bulk instructions cost by size. Calls the export
 * `name`; an exception that leaves it ends the count.
 */
export function countedFuel(
  wasm: Uint8Array,
  name: string,
  args: readonly unknown[],
  imports: WebAssembly.Imports = {},
): bigint {
  const module = parseModule(wasm)
  const context = codeContext(module)
  const counter = context.globals
  const body = new DecodedBody()
  const bodies = module.bodies.map((source, index) => {
    decodeBody(context, source, context.importedFunctions + index, body)
    return { bytes: countInstructions(body, counter), offset: 0 }
  })
  const init = new CodeWriter().i64(0).op(OP.end).out.copy()
  const added = addGlobal({ ...module, bodies }, { type: { value: I64, mutable: true }, init })
  const counting = addExport(added.module, { name: COUNT_EXPORT, kind: 'global', index: added.index })
  const instance = instantiate(encodeModule(counting), imports)
  try {
    exported(instance, name)(...args)
  } catch (thrown) {
    if (thrown instanceof WebAssembly.RuntimeError) throw thrown
  }
  return BigInt((instance.exports[COUNT_EXPORT] as WebAssembly.Global).value)
}

/** `else`, `catch`, `catch_all`, `delegate` and `end` stand where nothing can be put before them: they are free. */
const SHAPE: readonly number[] = [OP.else, OP.catch, OP.catchAll, OP.delegate, OP.end]

function countInstructions(body: DecodedBody, counter: number): Uint8Array {
  const code = new CodeWriter(new ByteWriter(body.bytes.length * 8))
  const charge = (at: number): void => {
    const cost = fuelCost(body.opcodes.at(at))
    if (cost === 0) return
    code.op(OP.globalGet, counter).i64(cost).op(OP.i64Add).op(OP.globalSet, counter)
  }
  rewriteBody(
    body,
    code,
    { locals: [], wrapper: undefined },
    {
      hasBefore: (at) => at < body.length && !SHAPE.includes(body.opcodes.at(at)),
      before: charge,
      hasAfter: () => false,
      after: () => {},
      replace: () => false,
    },
  )
  return code.out.copy()
}
