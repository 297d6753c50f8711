/**
 * Makes of a module with extended constant expressions one that every engine takes: V8 of Node 20 has them behind a flag.
 *
 * 1. An expression with arithmetic becomes an imported global. Its value depends on globals that the module imports, and
 *    on nothing else: whoever links the module knows it (`evaluateConstant`).
 * 2. Types are checked here, as no engine sees the expression any more.
 * 3. Every module is lowered, on engines that would not need it too: what is prepared on one starts on the others.
 */
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { CodeWriter } from './code-writer.ts'
import { addGlobalImports } from './edit.ts'
import { mapConstants } from './map-constants.ts'
import type { ConstantExpression, Import, Module } from './module.ts'
import { invalidModule } from './module-error.ts'
import { OP } from './opcode-table.ts'
import { I32, I64, type ValueType } from './value-type.ts'

/** Where lowered modules import their constants from. */
export const CONSTANT_NAMESPACE = 'caisson:constants'

/** Something that is put on the stack, or an operation on the two that are on top of it. */
export type ConstantStep =
  | { readonly get: { readonly module: string; readonly name: string } }
  /** Of i64 as a decimal. */
  | { readonly push: number | string }
  | { readonly op: 'add' | 'sub' | 'mul' }

/** A constant that the metered module imports, as plain JSON. */
export interface LoweredConstant {
  /** Under `CONSTANT_NAMESPACE`. */
  readonly name: string
  readonly type: 'i32' | 'i64'
  readonly steps: readonly ConstantStep[]
}

/** What an expression is made of. */
type Steps = Pick<LoweredConstant, 'type' | 'steps'>

/**
 * The module, and what it imports beyond the original. Without arithmetic in its constants it is as it was.
 *
 * @throws CaissonError `invalid_module` where types do not fit, or the module imports from `CONSTANT_NAMESPACE` itself
 */
export function lowerConstants(module: Module): {
  readonly module: Module
  readonly constants: readonly LoweredConstant[]
} {
  if (module.imports.some((item) => item.module === CONSTANT_NAMESPACE))
    throw invalidModule(`The module imports from "${CONSTANT_NAMESPACE}", a name that is reserved`, 0)
  const globals = module.imports.filter(({ desc }) => desc.kind === 'global')
  const found = new Map<string, LoweredConstant & { readonly at: number }>()
  const placeOf = (expression: ConstantExpression, steps: Steps): number => {
    const key = expression.join()
    const at = found.get(key)?.at ?? found.size
    if (at === MOST)
      throw invalidModule(`The module has more than ${MOST} different constants with arithmetic`, 0)
    if (at === found.size) found.set(key, { at, name: `constant.${at}`, ...steps })
    return at
  }
  // In the order of the expressions: their bytes change where they name globals.
  const places: (number | undefined)[] = []
  mapConstants(module, (expression) => {
    const steps = stepsOf(globals, expression)
    places.push(steps && placeOf(expression, steps))
    return expression
  })
  const constants = [...found.values()].map(({ name, type, steps }) => ({ name, type, steps }))
  if (constants.length === 0) return { module, constants }
  const types = constants.map(({ name, type }) => ({
    name,
    type: { value: type === 'i32' ? I32 : I64, mutable: false },
  }))
  const added = addGlobalImports(module, CONSTANT_NAMESPACE, types)
  let next = 0
  const lowered = mapConstants(added.module, (expression) => {
    const place = places[next]
    next += 1
    if (place === undefined) return expression
    return new CodeWriter(new ByteWriter(8))
      .op(OP.globalGet, added.index + place)
      .op(OP.end)
      .out.copy()
  })
  return { module: lowered, constants }
}

/** Whether data that was kept somewhere is what `lowerConstants` says of a constant. */
export function isLoweredConstant(given: unknown): given is LoweredConstant {
  const { name, type, steps } = Object(given) as Readonly<Record<string, unknown>>
  return (
    typeof name === 'string' &&
    (type === 'i32' || type === 'i64') &&
    Array.isArray(steps) &&
    steps.length <= LONGEST &&
    steps.every(isStep)
  )
}

function isStep(given: unknown): boolean {
  const { get, push, op } = Object(given) as Readonly<Record<string, unknown>>
  if (op !== undefined) return typeof op === 'string' && Object.hasOwn(OPERATIONS, op)
  if (push !== undefined)
    return Number.isSafeInteger(push) || (typeof push === 'string' && /^-?\d{1,20}$/.test(push))
  const { module, name } = Object(get) as Readonly<Record<string, unknown>>
  return typeof module === 'string' && typeof name === 'string'
}

/**
 * @param globalOf the value of a global that the module imports
 * @returns what the imported constant has to be
 */
export function evaluateConstant(
  { type, steps }: LoweredConstant,
  globalOf: (module: string, name: string) => unknown,
): number | bigint {
  const stack: bigint[] = []
  for (const step of steps) {
    if ('get' in step) stack.push(wholeOf(globalOf(step.get.module, step.get.name), step.get.name))
    else if ('push' in step) stack.push(BigInt(step.push))
    else {
      const second = stack.pop() ?? 0n
      const first = stack.pop() ?? 0n
      stack.push(OPERATIONS[step.op](first, second))
    }
  }
  const value = stack.pop() ?? 0n
  return type === 'i32' ? Number(BigInt.asIntN(32, value)) : BigInt.asIntN(64, value)
}

/** Sums and products of whole numbers, cut at the end, are those of numbers cut at each step. */
const OPERATIONS: Readonly<Record<'add' | 'sub' | 'mul', (first: bigint, second: bigint) => bigint>> = {
  add: (first, second) => BigInt.asIntN(64, first + second),
  sub: (first, second) => BigInt.asIntN(64, first - second),
  mul: (first, second) => BigInt.asIntN(64, first * second),
}

function wholeOf(value: unknown, name: string): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value)
  throw invalidModule(`The imported global ${JSON.stringify(name.slice(0, 80))} is no whole number`, 0)
}

/** Each becomes an import, of which engines take no more than 100,000. Libraries have some for each of their segments. */
const MOST = 20_000

/** Of compilers there are three instructions. Longer ones are left to the engine: their steps would take much more room. */
const LONGEST = 100

const ARITHMETIC: ReadonlyMap<number, { readonly op: 'add' | 'sub' | 'mul'; readonly type: ValueType }> =
  new Map([
    [0x6a, { op: 'add', type: I32 }],
    [0x6b, { op: 'sub', type: I32 }],
    [0x6c, { op: 'mul', type: I32 }],
    [0x7c, { op: 'add', type: I64 }],
    [0x7d, { op: 'sub', type: I64 }],
    [0x7e, { op: 'mul', type: I64 }],
  ])

/**
 * @param globals those that the module imports
 * @returns undefined for an expression without arithmetic, and for one that names globals which the module defines: those
 *   are left to the engine
 * @throws CaissonError `invalid_module` where types do not fit
 */
function stepsOf(globals: readonly Import[], expression: ConstantExpression): Steps | undefined {
  if (expression.length > LONGEST) return undefined
  const steps: ConstantStep[] = []
  const types: ValueType[] = []
  let arithmetic = false
  const reader = new ByteReader(expression)
  for (let code = reader.byte(); code !== OP.end; code = reader.byte()) {
    const operation = ARITHMETIC.get(code)
    if (operation !== undefined) {
      arithmetic = true
      if (types.pop() !== operation.type || types.at(-1) !== operation.type)
        throw invalidModule('The types of a constant do not fit', 0)
      steps.push({ op: operation.op })
    } else if (code === OP.i32Const) {
      types.push(I32)
      steps.push({ push: reader.s32() })
    } else if (code === OP.i64Const) {
      types.push(I64)
      steps.push({ push: reader.s64().toString() })
    } else if (code === OP.globalGet) {
      const from = globals[reader.u32()]
      if (from?.desc.kind !== 'global' || from.desc.global.mutable) return undefined
      types.push(from.desc.global.value)
      steps.push({ get: { module: from.module, name: from.name } })
    } else return undefined
  }
  if (!arithmetic) return undefined
  if (types.length !== 1) throw invalidModule('A constant has not one value', 0)
  return { type: types[0] === I32 ? 'i32' : 'i64', steps }
}
