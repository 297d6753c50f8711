/** Block types of blocks that have the results of a function, and no parameters. */
import type { CodeWriter } from './code-writer.ts'
import { EMPTY_BLOCK } from './code-writer.ts'
import { addType } from './edit.ts'
import type { FunctionType, Module } from './module.ts'
import { writeValueType } from './value-type.ts'

/** Adds the types that such blocks need, when they need them. */
export class ResultBlocks {
  readonly #added = new Map<number, number>()
  #module: Module

  constructor(module: Module) {
    this.#module = module
  }

  /** All types, those that were added behind those that were there. */
  get types(): readonly FunctionType[] {
    return this.#module.types
  }

  /** Writes the block type of a block with the results of function type `typeIndex`. */
  write(code: CodeWriter, typeIndex: number): void {
    const results = this.#module.types[typeIndex]?.results ?? []
    if (results.length === 0) code.out.byte(EMPTY_BLOCK)
    else if (results.length === 1) writeValueType(code.out, results[0] as number)
    else code.out.signed(this.#typeWithout(typeIndex))
  }

  #typeWithout(typeIndex: number): number {
    const known = this.#added.get(typeIndex)
    if (known !== undefined) return known
    const results = this.#module.types[typeIndex]?.results ?? []
    const { module, index } = addType(this.#module, { params: [], results })
    this.#module = module
    this.#added.set(typeIndex, index)
    return index
  }
}
