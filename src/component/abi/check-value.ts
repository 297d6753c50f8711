/**
 * Host values against their WIT types, before anything of them reaches a guest.
 *
 * Invariants
 * 1. What is returned is a copy that only this code made: getters and later changes of the given value have no effect on
 *    what is lowered. Handles are the exception: they are looked at when they are lowered.
 * 2. Nothing is changed to fit: a number out of range, a lone surrogate, a property that no field has, is refused. Only
 *    an `f32` takes the nearest value that it has.
 * 3. A refusal names the place: `args[0].items[3].price`.
 */
import { CaissonError, type ErrorCode } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import { GuestResource, type LiveResource } from './resources.ts'
import type { ValueBudget } from './value-budget.ts'
import { hasUndefined, type Kind, type Parameter, type VariantParts, type WitType } from './wit-type.ts'

const RANGES = {
  s8: [-0x80, 0x7f],
  u8: [0, 0xff],
  s16: [-0x8000, 0x7fff],
  u16: [0, 0xffff],
  s32: [-0x8000_0000, 0x7fff_ffff],
  u32: [0, 0xffff_ffff],
} as const

const LONG_RANGES = {
  s64: [-0x8000_0000_0000_0000n, 0x7fff_ffff_ffff_ffffn],
  u64: [0n, 0xffff_ffff_ffff_ffffn],
} as const

const LONE_SURROGATE = /\p{Surrogate}/u

/** What lists of numbers are on the host's side. */
export const TYPED_ARRAYS: {
  readonly s8: typeof Int8Array
  readonly u8: typeof Uint8Array
  readonly s16: typeof Int16Array
  readonly u16: typeof Uint16Array
  readonly s32: typeof Int32Array
  readonly u32: typeof Uint32Array
  readonly s64: typeof BigInt64Array
  readonly u64: typeof BigUint64Array
  readonly f32: typeof Float32Array
  readonly f64: typeof Float64Array
} = {
  s8: Int8Array,
  u8: Uint8Array,
  s16: Int16Array,
  u16: Uint16Array,
  s32: Int32Array,
  u32: Uint32Array,
  s64: BigInt64Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
}

export function isTyped(kind: string): kind is keyof typeof TYPED_ARRAYS {
  return Object.hasOwn(TYPED_ARRAYS, kind)
}

/** @throws CaissonError `invalid_arguments` with `details: { path }`, `value_too_large` */
export function checkArguments(
  params: readonly Parameter[],
  args: readonly unknown[],
  budget: ValueBudget,
): unknown[] {
  // A text has a length and entries too: a character for each parameter.
  if (!Array.isArray(args)) {
    throw new CaissonError('invalid_arguments', 'Arguments are given as an array, also where there is one.', {
      details: { path: 'args' },
    })
  }
  if (args.length !== params.length) {
    const names = params.map(({ name }) => name).join(', ')
    const takes = params.length === 1 ? '1 argument' : `${params.length} arguments`
    throw new CaissonError(
      'invalid_arguments',
      `The function takes ${takes} (${clipText(names || 'none', 500)}), not ${args.length}.`,
      { details: { path: 'args' } },
    )
  }
  const checker = new ValueChecker('args', 'invalid_arguments', budget)
  return params.map(({ type }, index) => checker.part(type, args[index], index))
}

/** @throws CaissonError `invalid_result` with `details: { path }`, `value_too_large` */
export function checkResult(type: WitType, value: unknown, budget: ValueBudget): unknown {
  return new ValueChecker('result', 'invalid_result', budget).check(type, value)
}

class ValueChecker {
  readonly #path: (string | number)[] = []
  readonly #root: string
  readonly #code: ErrorCode
  readonly #budget: ValueBudget
  /** Resources that the call gives away. */
  readonly #given = new Set<object>()

  constructor(root: string, code: ErrorCode, budget: ValueBudget) {
    this.#root = root
    this.#code = code
    this.#budget = budget
  }

  part(type: WitType, value: unknown, key: string | number): unknown {
    this.#path.push(key)
    const copy = this.check(type, value)
    this.#path.pop()
    return copy
  }

  check(type: WitType, value: unknown): unknown {
    switch (type.kind) {
      case 'bool':
        return typeof value === 'boolean' ? value : this.#refuse('true or false', value)
      case 's8':
      case 'u8':
      case 's16':
      case 'u16':
      case 's32':
      case 'u32': {
        const [least, most] = RANGES[type.kind]
        if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most)
          return value
        return this.#refuse(`a whole number from ${least} to ${most} (${type.kind})`, value)
      }
      case 's64':
      case 'u64':
        return this.#long(type.kind, value)
      case 'f32':
        return typeof value === 'number' ? Math.fround(value) : this.#refuse('a number (f32)', value)
      case 'f64':
        return typeof value === 'number' ? value : this.#refuse('a number (f64)', value)
      case 'char':
        return this.#char(value)
      case 'string':
        if (typeof value !== 'string') return this.#refuse('a string', value)
        if (LONE_SURROGATE.test(value)) return this.#refuse('one without lone surrogates', value)
        return value
      case 'list':
        return this.#list(type, value)
      case 'record':
        return this.#record(type, value)
      case 'tuple':
        return this.#tuple(type, value)
      case 'variant':
      case 'result':
        return this.#variant(type, value)
      case 'enum':
        if (typeof value === 'string' && type.indexOf.has(value)) return value
        return this.#refuse(`one of ${namesOf(type)}`, value)
      case 'option':
        return this.#option(type, value)
      case 'flags':
        return this.#flags(type, value)
      case 'own':
      case 'borrow':
        return this.#resource(type, value)
    }
  }

  #long(kind: 's64' | 'u64', value: unknown): unknown {
    const [least, most] = LONG_RANGES[kind]
    const long = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
    if (typeof long === 'bigint' && long >= least && long <= most) return long
    return this.#refuse(`a bigint, or a safe whole number, from ${least} to ${most} (${kind})`, value)
  }

  #char(value: unknown): unknown {
    if (typeof value === 'string' && !LONE_SURROGATE.test(value)) {
      const point = value.codePointAt(0)
      if (point !== undefined && value.length === (point > 0xffff ? 2 : 1)) return value
    }
    return this.#refuse('a string of one character', value)
  }

  #list({ element }: Kind<'list'>, value: unknown): unknown {
    const { kind } = element
    if (isTyped(kind) && ArrayBuffer.isView(value)) {
      if (Object.prototype.toString.call(value) !== `[object ${TYPED_ARRAYS[kind].name}]`)
        return this.#refuse(`a ${TYPED_ARRAYS[kind].name} or an array of ${kind}`, value)
      this.#budget.take(1, value.byteLength)
      // Not `slice`, which is a view where the value is a Buffer.
      return new TYPED_ARRAYS[kind](value as never)
    }
    if (!Array.isArray(value)) return this.#refuse('an array', value)
    const { length } = value
    this.#budget.take(length + 1, length * element.size)
    const copy: unknown[] = []
    for (let index = 0; index < length; index += 1) copy.push(this.part(element, value[index], index))
    return copy
  }

  #record({ fields }: Kind<'record'>, value: unknown): unknown {
    const given = this.#object(value, 'a record')
    this.#budget.take(fields.length, 0)
    const copy: Record<string, unknown> = {}
    for (const { key, type } of fields) copy[key] = this.part(type, ownValue(given, key), key)
    this.#refuseOthers(given, Object.keys(copy))
    return copy
  }

  #tuple({ fields }: Kind<'tuple'>, value: unknown): unknown {
    if (!Array.isArray(value) || value.length !== fields.length)
      return this.#refuse(`an array of ${fields.length}`, value)
    this.#budget.take(fields.length, 0)
    return fields.map(({ type }, index) => this.part(type, value[index], index))
  }

  #variant(type: Kind<'variant' | 'option' | 'result'>, value: unknown): unknown {
    const given = this.#object(value, 'a variant { tag, val }')
    const tag = ownValue(given, 'tag')
    const index = typeof tag === 'string' ? type.indexOf.get(tag) : undefined
    if (index === undefined) return this.#refuse(`{ tag } with one of ${namesOf(type)}`, tag, 'tag')
    this.#budget.take(1, 0)
    const payload = type.cases[index]?.type
    this.#refuseOthers(given, ['tag', 'val'])
    const val = ownValue(given, 'val')
    if (payload !== undefined) return { tag, val: this.part(payload, val, 'val') }
    if (val !== undefined) return this.#refuse(`nothing beside the tag "${String(tag)}"`, val, 'val')
    return { tag }
  }

  #option(type: Kind<'option'>, value: unknown): unknown {
    const inner = type.cases[1]?.type as WitType
    if (!hasUndefined(inner)) return value === undefined ? undefined : this.check(inner, value)
    if (value === undefined) return { tag: 'none' }
    return this.#variant(type, value)
  }

  #flags({ keys }: Kind<'flags'>, value: unknown): unknown {
    const given = this.#object(value, 'flags')
    const copy: Record<string, unknown> = {}
    for (const key of keys) {
      const flag = ownValue(given, key) ?? false
      if (typeof flag !== 'boolean') return this.#refuse('true or false', flag, key)
      copy[key] = flag
    }
    this.#refuseOthers(given, keys)
    return copy
  }

  #resource({ kind, resource }: Kind<'own' | 'borrow'>, value: unknown): unknown {
    const wanted = `a resource "${resource.name}"`
    if (typeof value !== 'object' || value === null) return this.#refuse(wanted, value)
    if ((resource as LiveResource).owner === undefined) return value
    const problem = GuestResource.problem(value, resource as LiveResource, kind)
    if (problem !== undefined) return this.#refuse(`${wanted}: it ${problem}`, value)
    if (this.#given.has(value)) return this.#refuse(`${wanted}: it is given away in the same call`, value)
    if (kind === 'own') this.#given.add(value)
    return value
  }

  #object(value: unknown, what: string): object {
    // Its properties would be asked for otherwise, and the first of them missed.
    if (value instanceof Promise)
      return this.#refuse(`${what} (what answers later is a capability: grants)`, value)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
    return this.#refuse(what, value)
  }

  /** A misspelt name of an optional field would otherwise pass as its absence. */
  #refuseOthers(given: object, known: readonly string[]): void {
    for (const key of Object.keys(given))
      if (!known.includes(key)) this.#refuse(`one of ${known.join(', ')}`, undefined, key)
  }

  #refuse(wanted: string, value: unknown, key?: string | number): never {
    if (key !== undefined) this.#path.push(key)
    const path =
      this.#root + this.#path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')
    throw new CaissonError(
      this.#code,
      `${clipText(path, 200)} is ${shown(value)}, not ${clipText(wanted, 200)}.`,
      {
        details: { path: clipText(path, 200) },
      },
    )
  }
}

function ownValue(object: object, key: string): unknown {
  return Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined
}

function namesOf({ cases }: VariantParts): string {
  return cases.map(({ name }) => `"${name}"`).join(', ')
}

/** Only what gives nothing away and calls nobody. */
function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value === null) return 'null'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'bigint') return 'a bigint out of range'
  if (typeof value === 'undefined') return 'undefined'
  if (value instanceof Promise) return 'a promise'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
