/** Puts a module together from parts: types are interned, functions get their bodies as bytes. */
import type { ValueType } from '../oracle/instruction.ts'
import type { FunctionType } from '../oracle/module-reader.ts'
import { leb, MODULE_HEADER, section, TYPE_CODES } from '../oracle/numeric-stubs.ts'
import { nameBytes } from '../oracle/section-writer.ts'

interface BuiltFunction {
  readonly typeIndex: number
  locals: readonly ValueType[]
  code: readonly number[]
}

/** Minimum and maximum as the binary format writes them. */
function limits(minimum: number, maximum: number | undefined): number[] {
  return maximum === undefined ? [0, ...leb(minimum)] : [1, ...leb(minimum), ...leb(maximum)]
}

/** A module under construction: imports must be added before anything is defined. */
export class ModuleBuilder {
  readonly #types: FunctionType[] = []
  readonly #imports: number[][] = []
  readonly #functionTypes: number[] = []
  readonly #functions: BuiltFunction[] = []
  readonly #tables: number[][] = []
  readonly #globals: number[][] = []
  readonly #tags: number[][] = []
  readonly #exports: number[][] = []
  readonly #elements: number[][] = []
  readonly #data: number[][] = []
  #memory: number[] | undefined
  #start: number | undefined

  /** The index of a function type. */
  type(params: readonly ValueType[], results: readonly ValueType[]): number {
    const same = (type: FunctionType): boolean =>
      type.params.join() === params.join() && type.results.join() === results.join()
    const found = this.#types.findIndex(same)
    return found >= 0 ? found : this.#types.push({ params, results }) - 1
  }

  /** Imports a function; gives its index. */
  importFunction(
    module: string,
    name: string,
    params: readonly ValueType[],
    results: readonly ValueType[],
  ): number {
    const typeIndex = this.type(params, results)
    this.#imports.push([...nameBytes(module), ...nameBytes(name), 0, ...leb(typeIndex)])
    return this.#functionTypes.push(typeIndex) - 1
  }

  /** Declares a function, so that others can call it before its body is known; gives its index. */
  declare(params: readonly ValueType[], results: readonly ValueType[]): number {
    const typeIndex = this.type(params, results)
    this.#functions.push({ typeIndex, locals: [], code: [0x00] })
    return this.#functionTypes.push(typeIndex) - 1
  }

  /** Gives a declared function its body; `code` is without the final `end`. */
  define(index: number, locals: readonly ValueType[], code: readonly number[]): void {
    const built = this.#functions[index - (this.#functionTypes.length - this.#functions.length)]
    if (built === undefined) throw new Error(`function ${index} was not declared`)
    built.locals = locals
    built.code = code
  }

  /** Declares and defines a function; gives its index. */
  function(
    params: readonly ValueType[],
    results: readonly ValueType[],
    locals: readonly ValueType[],
    code: readonly number[],
  ): number {
    const index = this.declare(params, results)
    this.define(index, locals, code)
    return index
  }

  /** Adds a table of a reference type; gives its index. */
  table(type: ValueType, minimum: number, maximum?: number): number {
    return this.#tables.push([TYPE_CODES[type], ...limits(minimum, maximum)]) - 1
  }

  /** Sets the memory. */
  memory(minimum: number, maximum?: number): void {
    this.#memory = limits(minimum, maximum)
  }

  /** Adds a mutable global; `init` is a constant expression without `end`. */
  global(type: ValueType, init: readonly number[]): number {
    return this.#globals.push([TYPE_CODES[type], 1, ...init, 0x0b]) - 1
  }

  /** Adds a tag; gives its index. */
  tag(params: readonly ValueType[]): number {
    return this.#tags.push([0, ...leb(this.type(params, []))]) - 1
  }

  /** Exports something: kind 0 function, 1 table, 2 memory, 3 global, 4 tag. */
  export(name: string, index: number, kind: 0 | 1 | 2 | 3 | 4 = 0): void {
    this.#exports.push([...nameBytes(name), kind, ...leb(index)])
  }

  /** Names the start function. */
  start(index: number): void {
    this.#start = index
  }

  /** Places functions in table 0 at an offset below 64. */
  elements(offset: number, functions: readonly number[]): number {
    return this.#elements.push([0, 0x41, offset, 0x0b, ...vector(functions.map((index) => leb(index)))]) - 1
  }

  /** Adds a passive element segment of functions; gives its index. */
  passiveElements(functions: readonly number[]): number {
    return this.#elements.push([1, 0, ...vector(functions.map((index) => leb(index)))]) - 1
  }

  /** Adds a passive data segment; gives its index. */
  passiveData(bytes: Uint8Array): number {
    return this.#data.push([1, ...leb(bytes.length), ...bytes]) - 1
  }

  /** The module's bytes. */
  build(): Uint8Array<ArrayBuffer> {
    const types = this.#types.map(({ params, results }) => [0x60, ...typeList(params), ...typeList(results)])
    const defined = this.#functions.map(({ typeIndex }) => leb(typeIndex))
    return new Uint8Array([
      ...MODULE_HEADER,
      ...listSection(1, types),
      ...listSection(2, this.#imports),
      ...listSection(3, defined),
      ...listSection(4, this.#tables),
      ...listSection(5, this.#memory === undefined ? [] : [this.#memory]),
      ...listSection(13, this.#tags),
      ...listSection(6, this.#globals),
      ...listSection(7, this.#exports),
      ...(this.#start === undefined ? [] : section(8, leb(this.#start))),
      ...listSection(9, this.#elements),
      ...(this.#data.length > 0 ? section(12, leb(this.#data.length)) : []),
      ...listSection(10, this.#functions.map(bodyBytes)),
      ...listSection(11, this.#data),
    ])
  }
}

function typeList(types: readonly ValueType[]): number[] {
  return vector(types.map((type) => [TYPE_CODES[type]]))
}

function vector(items: readonly (readonly number[])[]): number[] {
  return [...leb(items.length), ...items.flat()]
}

function listSection(id: number, items: readonly (readonly number[])[]): number[] {
  return items.length === 0 ? [] : section(id, vector(items))
}

function bodyBytes({ locals, code }: BuiltFunction): number[] {
  const body = [...vector(locals.map((type) => [1, TYPE_CODES[type]])), ...code, 0x0b]
  return [...leb(body.length), ...body]
}
