/**
 * Runs a script, plain or metered, command by command.
 *
 * All modules of a metered script share their counters, get fuel in small slices, and are called with the same depth.
 */
import { CaissonError } from '../../../src/base/errors.ts'
import { meter } from '../../../src/wasm/meter.ts'
import { REFILL_DEPTH, START_EXPORT } from '../../../src/wasm/meter-options.ts'
import type { SpecAction, SpecCommand, SpecScript } from './spec-script.ts'
import { canPass, isExpected, toJs } from './spec-values.ts'

/** `passed`; `skipped: why` for what cannot be asked here; `refused: feature` for what is not metered; else what happened. */
export type Verdict = string

const SLICE = 10_000n
const DEPTH_BYTES = 700_000

type Exports = Readonly<Record<string, unknown>>

export class SpecWorld {
  readonly #script: SpecScript
  readonly #metered: boolean
  readonly #fuel = new WebAssembly.Global({ value: 'i64', mutable: true }, 0n)
  readonly #depth = new WebAssembly.Global({ value: 'i32', mutable: true }, DEPTH_BYTES)
  readonly #named = new Map<string, Exports>()
  readonly #registered = new Map<string, Exports>([['spectest', spectest()]])
  #current: Exports | undefined
  #tooDeep = false

  constructor(script: SpecScript, metered: boolean) {
    this.#script = script
    this.#metered = metered
  }

  run(): Verdict[] {
    return this.#script.commands.map((command) => {
      try {
        return this.#command(command)
      } catch (error) {
        const { code, details } = error as Partial<CaissonError>
        if (CaissonError.is(error) && code === 'unsupported_feature')
          return `refused: ${String(details?.feature)}`
        return `threw ${error instanceof Error ? error.name : typeof error}`
      }
    })
  }

  #command(command: SpecCommand): Verdict {
    switch (command.type) {
      case 'module':
        return this.#module(command)
      case 'register': {
        const exports = this.#exports(command.name)
        if (exports === undefined) return 'skipped: no module'
        this.#registered.set(command.as ?? '', exports)
        return 'passed'
      }
      case 'action':
      case 'assert_return':
        return this.#returns(command)
      case 'assert_trap':
      case 'assert_exhaustion':
      case 'assert_exception':
        return this.#throws(command)
      case 'assert_invalid':
      case 'assert_malformed':
        if (command.module_type === 'text') return 'skipped: text'
        return this.#isRefused(command) ? 'passed' : 'accepted'
      case 'assert_unlinkable':
      case 'assert_uninstantiable':
        return this.#doesNotStart(command)
      default:
        return `skipped: ${command.type}`
    }
  }

  #module(command: SpecCommand): Verdict {
    this.#current = undefined
    if (command.name !== undefined) this.#named.delete(command.name)
    const module = this.#compile(command)
    this.#current = this.#start(module)
    if (command.name !== undefined) this.#named.set(command.name, this.#current)
    return 'passed'
  }

  #bytes({ filename = '' }: SpecCommand): Uint8Array {
    return this.#script.binaries.get(filename) ?? new Uint8Array(0)
  }

  #compile(command: SpecCommand): WebAssembly.Module {
    const bytes = this.#bytes(command) as Uint8Array<ArrayBuffer>
    // As whoever prepares modules does: metering takes valid ones.
    if (!WebAssembly.validate(bytes)) throw new WebAssembly.CompileError('invalid')
    const wasm = this.#metered
      ? meter(bytes, { profile: 'v8', counters: 'shared', reportsGrowth: true }).wasm
      : bytes
    return new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>)
  }

  #start(module: WebAssembly.Module): Exports {
    const imports: Record<string, Exports> = Object.fromEntries(this.#registered)
    imports.caisson = { fuel: this.#fuel, depth: this.#depth, refill: this.#refill }
    this.#depth.value = DEPTH_BYTES
    const { exports } = new WebAssembly.Instance(module, imports as WebAssembly.Imports)
    const start = exports[START_EXPORT]
    if (typeof start === 'function') start()
    return exports
  }

  readonly #refill = (kind: number): bigint => {
    this.#tooDeep ||= kind === REFILL_DEPTH
    return kind === REFILL_DEPTH ? -1n : SLICE
  }

  #exports(name: string | undefined): Exports | undefined {
    return name === undefined ? this.#current : this.#named.get(name)
  }

  /** @returns the results, or why it cannot be asked */
  #act(action: SpecAction): readonly unknown[] | string {
    const exports = this.#exports(action.module)
    if (exports === undefined) return 'skipped: no module'
    const item = exports[action.field]
    if (action.type === 'get') return [(item as WebAssembly.Global).value]
    const { args = [] } = action
    if (!args.every(canPass)) return 'skipped: 128-bit vectors'
    this.#depth.value = DEPTH_BYTES
    this.#tooDeep = false
    const result = (item as (...args: readonly unknown[]) => unknown)(...args.map(toJs))
    return Array.isArray(result) ? result : result === undefined ? [] : [result]
  }

  #returns({ action, expected = [] }: SpecCommand): Verdict {
    if (action === undefined) return 'skipped: no action'
    if (!expected.every(canPass)) return 'skipped: 128-bit vectors'
    const results = this.#act(action)
    if (typeof results === 'string') return results
    const isRight =
      results.length === expected.length && expected.every((value, at) => isExpected(value, results[at]))
    return isRight ? 'passed' : `returned ${results.map(String).join()}`
  }

  #throws({ action, type }: SpecCommand): Verdict {
    if (action === undefined) return 'skipped: no action'
    try {
      const results = this.#act(action)
      return typeof results === 'string' ? results : 'returned'
    } catch (error) {
      const isTooDeep = error instanceof RangeError || this.#tooDeep
      if (type === 'assert_exhaustion') return isTooDeep ? 'passed' : 'trapped'
      if (isTooDeep) return 'too deep'
      if (type === 'assert_exception') return error instanceof WebAssembly.RuntimeError ? 'trapped' : 'passed'
      return error instanceof WebAssembly.RuntimeError ? 'passed' : 'threw'
    }
  }

  #isRefused(command: SpecCommand): boolean {
    try {
      this.#compile(command)
      return false
    } catch {
      return true
    }
  }

  #doesNotStart(command: SpecCommand): Verdict {
    const module = this.#compile(command)
    try {
      this.#start(module)
      return 'started'
    } catch (error) {
      const isTrap = error instanceof WebAssembly.RuntimeError
      return isTrap === (command.type === 'assert_uninstantiable') ? 'passed' : 'threw another error'
    }
  }
}

function spectest(): Exports {
  const print = (): void => {}
  return {
    print,
    print_i32: print,
    print_i64: print,
    print_f32: print,
    print_f64: print,
    print_i32_f32: print,
    print_f64_f64: print,
    global_i32: new WebAssembly.Global({ value: 'i32' }, 666),
    global_i64: new WebAssembly.Global({ value: 'i64' }, 666n),
    global_f32: new WebAssembly.Global({ value: 'f32' }, 666.6),
    global_f64: new WebAssembly.Global({ value: 'f64' }, 666.6),
    table: new WebAssembly.Table({ element: 'anyfunc', initial: 10, maximum: 20 }),
    memory: new WebAssembly.Memory({ initial: 1, maximum: 2 }),
  }
}
