/**
 * The parts of objects in a guest's heap, each proved before it is used: class, shape, own properties,
 * elements, list entries. What a value means is decided by the readers on top.
 *
 * Invariants
 * 1. Nothing here follows a prototype, a getter or a Proxy: only data that the object itself holds is seen.
 * 2. Searches are told to `meter`, also where they find nothing, so that corrupted counts end.
 */
import { CLASS, FLOAT_SHIFT, KNOWN_ATOM, OBJECT, OBJECT_HEADER, PROP, SHAPE, TAG } from './heap-layout.ts'
import { corrupted, type HeapMemory } from './heap-memory.ts'
import type { ReadMeter } from './read-meter.ts'

/** Own properties of one object. Reused between objects: read it before the next call of `properties`. */
export interface PropertyTable {
  /** Word of the first property's flags in the shape; each property takes two words. */
  shapeWord: number
  /** Word of the first value cell; each takes two words. */
  cellWord: number
  count: number
}

export class HeapObjects {
  readonly memory: HeapMemory
  readonly #table: PropertyTable = { shapeWord: 0, cellWord: 0, count: 0 }

  constructor(memory: HeapMemory) {
    this.memory = memory
  }

  /** Proves that an object is at `pointer`. Returns its first word. */
  object(pointer: number): number {
    const word = this.memory.block(pointer, OBJECT.size, 'an object')
    if (((this.memory.u32[word + 1] as number) & OBJECT_HEADER.gcKindMask) !== 0) {
      throw corrupted('what should be an object is not one')
    }
    return word
  }

  classOf(word: number): number {
    return (this.memory.u32[word + 1] as number) >>> OBJECT_HEADER.classShift
  }

  isFastArray(word: number): boolean {
    return ((this.memory.u32[word + 1] as number) & OBJECT_HEADER.fastArray) !== 0
  }

  /** The own properties of the object at `word`, deleted ones included. */
  properties(word: number): PropertyTable {
    const { memory } = this
    const { u32 } = memory
    const shapePointer = u32[word + OBJECT.shapeWord] as number
    const shape = memory.block(shapePointer, SHAPE.size, 'a shape')
    const count = u32[shape + SHAPE.propCountWord] as number
    const cells = u32[word + OBJECT.propsWord] as number
    if (shapePointer + SHAPE.size + count * 8 > memory.size) throw corrupted(`a shape of ${count} properties`)
    const table = this.#table
    table.shapeWord = shape + SHAPE.propsWord
    table.cellWord = count === 0 ? 0 : memory.block(cells, count * 8, 'a property table')
    table.count = count
    return table
  }

  /** Word of the value cell of the own data property `atom`, or 0 when there is none (or it is an accessor). */
  ownData(word: number, atom: number, meter: ReadMeter): number {
    const { u32 } = this.memory
    const { shapeWord, cellWord, count } = this.properties(word)
    meter.addSteps(count)
    for (let i = 0; i < count; i += 1) {
      if (u32[shapeWord + 2 * i + 1] !== atom) continue
      const flags = (u32[shapeWord + 2 * i] as number) >>> SHAPE.flagsShift
      return (flags & PROP.kindMask) === 0 ? cellWord + 2 * i : 0
    }
    return 0
  }

  /** Pointer to the prototype of the object at `word`, or 0. */
  prototype(word: number): number {
    const { memory } = this
    const shape = memory.block(memory.u32[word + OBJECT.shapeWord] as number, SHAPE.size, 'a shape')
    return memory.u32[shape + SHAPE.protoWord] as number
  }

  /** The `length` of the array at `word`: always its first property. */
  arrayLength(word: number): number {
    const { u32 } = this.memory
    const { shapeWord, cellWord, count } = this.properties(word)
    if (count === 0 || u32[shapeWord + 1] !== KNOWN_ATOM.length) throw corrupted('an array has no length')
    const tag = (u32[cellWord + 1] as number) | 0
    const low = u32[cellWord] as number
    const length = tag === TAG.int ? low | 0 : numberFromWords(low, u32[cellWord + 1] as number)
    if (!(length >= 0 && length <= 0xffff_ffff && Number.isInteger(length))) {
      throw corrupted(`an array of length ${length}`)
    }
    return length
  }

  /** Whether objects of this class can be called. */
  static isFunction(classId: number): boolean {
    return (
      (classId >= CLASS.cFunction && classId <= CLASS.generatorFunction) ||
      (classId >= CLASS.promiseResolve && classId <= CLASS.asyncGeneratorFunction && classId !== 57)
    )
  }
}

const floatWords = new Uint32Array(2)
const floatValue = new Float64Array(floatWords.buffer)

/** The number in a value cell with these words, an int or a float; NaN for any other tag. */
export function numberFromWords(low: number, high: number): number {
  if (high === TAG.int) return low | 0
  if (!isFloatTag(high)) return Number.NaN
  return floatFromWords(low, high)
}

/** The double in a float cell. */
export function floatFromWords(low: number, high: number): number {
  floatWords[0] = low
  floatWords[1] = high + FLOAT_SHIFT
  return floatValue[0] as number
}

/** Whether the upper word of a cell is that of a float. */
export function isFloatTag(high: number): boolean {
  return (high - TAG.first) >>> 0 >= TAG.float64 - TAG.first
}
