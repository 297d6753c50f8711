/**
 * Shows a value of a guest as text, as `console.log` does, without running anything of the guest's: getters
 * show as `[Getter]`, a Proxy as `[Proxy]`, and everything that cannot cross the bridge has a form too.
 *
 * Invariants
 * 1. The text is bounded in length, depth and entries, and says where it was cut.
 * 2. It is hostile text: whoever shows it escapes it (`escapeText`).
 */
import type { ValueLimits } from '../../values/limits.ts'
import { numberOf, replaceSpecifiers, type Specifier } from './format-specifiers.ts'
import {
  ARRAY_DATA,
  ATOM,
  CLASS,
  CLASS_NAMES,
  KNOWN_ATOM,
  MAP_RECORD,
  OBJECT,
  PROMISE,
  PROP,
  REG_EXP,
  SHAPE,
  TAG,
} from './heap-layout.ts'
import { corrupted } from './heap-memory.ts'
import { floatFromWords, HeapObjects, isFloatTag } from './heap-objects.ts'
import type { HeapReading } from './heap-reading.ts'
import { entryBlock, keyText, numberText, quote } from './inspect-text.ts'
import { viewKind } from './read-binary.ts'
import { eachRecord } from './read-collection.ts'
import { errorName } from './read-error.ts'
import { patternFlags, readBigInt, readDate } from './read-scalars.ts'

/** Units of one line of output. */
const MAX_TEXT = 16_384
const MAX_STRING = 8192
const MAX_DEPTH = 4
const MAX_ENTRIES = 100
/** Of a text that is shown as a number. */
const MAX_NUMBER = 1_000

/** Limits of one inspection, of all that is looked at. */
export const INSPECT_LIMITS: ValueLimits = { bytes: 1 << 20, nodes: 1 << 16, depth: 64 }

/** Prototypes looked through for the name of a class. */
const MAX_PROTOTYPES = 4

/** One value in words, e.g. what was thrown. The walk must have been started. */
export function inspectWords(walk: HeapReading, low: number, high: number): string {
  return new Inspector(walk, (stack) => stack).show(low, high, 0, [])
}

/**
 * What `console.log` prints for the `count` value cells from word `cell` on: the first of them may be a format.
 * @param frames makes of a stack what is shown of it
 */
export function inspectCells(
  walk: HeapReading,
  cell: number,
  count: number,
  frames: (stack: string) => string = (stack) => stack,
): string {
  const inspector = new Inspector(walk, frames)
  const { u32 } = walk.memory
  let text = ''
  let next = 0
  const words = (): readonly [low: number, high: number] => {
    const at = cell + 2 * next
    next += 1
    return [u32[at] as number, u32[at + 1] as number]
  }
  if (count > 1 && isText(u32[cell + 1] as number)) {
    const [low, high] = words()
    let length = 0
    text = replaceSpecifiers(walk.strings.clipped(high | 0, low, MAX_TEXT), (specifier) => {
      if (next >= count || length > MAX_TEXT) return undefined
      const shown = formatted(walk, inspector, specifier, ...words())
      length += shown.length
      return shown
    })
  }
  while (next < count) {
    if (text.length > MAX_TEXT) return `${text} … (${count - next} more)`
    const first = next === 0
    const [low, high] = words()
    const shown = isText(high)
      ? walk.strings.clipped(high | 0, low, MAX_TEXT)
      : inspector.show(low, high, 0, [])
    text += first ? shown : ` ${shown}`
  }
  return text
}

function isText(high: number): boolean {
  const tag = high | 0
  return tag === TAG.string || tag === TAG.rope
}

function formatted(
  walk: HeapReading,
  inspector: Inspector,
  specifier: Specifier,
  low: number,
  high: number,
): string {
  const tag = high | 0
  switch (specifier) {
    case 'c':
      return ''
    case 'o':
    case 'O':
      return inspector.show(low, high, 0, [])
    case 's':
      return isText(high) ? walk.strings.clipped(tag, low, MAX_TEXT) : inspector.show(low, high, 0, [])
    default: {
      if (isText(high)) return numberOf(specifier, walk.strings.clipped(tag, low, MAX_NUMBER))
      const isPrimitive = tag !== TAG.object && tag !== TAG.symbol
      return numberOf(specifier, isPrimitive ? inspector.show(low, high, 0, []) : undefined)
    }
  }
}

class Inspector {
  readonly #walk: HeapReading
  readonly #stackText: (stack: string) => string
  #length = 0

  constructor(walk: HeapReading, frames: (stack: string) => string) {
    this.#walk = walk
    this.#stackText = frames
  }

  show(low: number, high: number, depth: number, above: readonly number[]): string {
    const text = this.#value(low, high, depth, above)
    this.#length += depth === 0 ? 0 : text.length
    return text
  }

  #value(low: number, high: number, depth: number, above: readonly number[]): string {
    const { strings } = this.#walk
    const tag = high | 0
    switch (tag) {
      case TAG.string:
      case TAG.rope:
        return quote(strings.clipped(tag, low, MAX_STRING))
      case TAG.int:
        return String(low | 0)
      case TAG.bool:
        return String(low !== 0)
      case TAG.null:
        return 'null'
      case TAG.undefined:
        return 'undefined'
      case TAG.shortBigInt:
        return `${low | 0}n`
      case TAG.bigInt: {
        const value = readBigInt(this.#walk, low)
        // Decimal takes quadratic time: a long one is shown by its size.
        return BigInt.asIntN(4096, value) === value ? `${value}n` : '<BigInt of more than 4096 bits>'
      }
      case TAG.symbol:
        return `Symbol(${strings.clipped(TAG.string, low, 128)})`
      case TAG.object:
        return this.#object(low, depth, above)
      default:
        if (!isFloatTag(high)) throw corrupted(`a value has the tag ${tag}`)
        return numberText(floatFromWords(low, high))
    }
  }

  #object(pointer: number, depth: number, above: readonly number[]): string {
    if (above.includes(pointer)) return '[Circular]'
    const walk = this.#walk
    const word = walk.objects.object(pointer)
    const classId = walk.objects.classOf(word)
    const inside = [...above, pointer]
    if (HeapObjects.isFunction(classId)) return this.#function(word)
    switch (classId) {
      case CLASS.array:
      case CLASS.arguments:
        return this.#array(word, depth, inside)
      case CLASS.error:
        return this.#error(word, depth, inside)
      case CLASS.date: {
        const date = readDate(walk, word)
        return Number.isNaN(date.getTime()) ? 'Invalid Date' : date.toISOString()
      }
      case CLASS.regExp:
        return `/${this.#text(walk.memory.u32[word + REG_EXP.patternWord] as number)}/${patternFlags(walk, word)}`
      case CLASS.map:
      case CLASS.set:
        return this.#collection(word, classId, depth, inside)
      case CLASS.number:
      case CLASS.string:
      case CLASS.boolean:
      case CLASS.symbol:
      case CLASS.bigInt:
        if (depth > MAX_DEPTH) return `[${CLASS_NAMES[classId]}]`
        return `[${CLASS_NAMES[classId]}: ${this.#cell(word + OBJECT.dataWord, depth + 1, inside)}]`
      case CLASS.promise:
        return this.#promise(word, depth, inside)
      case CLASS.proxy:
        return '[Proxy]'
      case CLASS.object:
        return this.#plain(word, depth, inside)
      default:
        if (viewKind(classId) !== undefined && classId !== CLASS.dataView) return this.#view(word, classId)
        return `${CLASS_NAMES[classId] ?? 'Object'} {}`
    }
  }

  #cell(cell: number, depth: number, above: readonly number[]): string {
    const { u32 } = this.#walk.memory
    return this.show(u32[cell] as number, u32[cell + 1] as number, depth, above)
  }

  #text(pointer: number): string {
    return this.#walk.strings.clipped(TAG.string, pointer, MAX_STRING)
  }

  #plain(word: number, depth: number, inside: readonly number[]): string {
    const name = this.#className(word)
    const prefix = name === 'Object' ? '' : `${name} `
    if (depth > MAX_DEPTH) return `[${name}]`
    return prefix + entryBlock('{', this.#properties(word, 0, depth, inside), '}')
  }

  #array(word: number, depth: number, inside: readonly number[]): string {
    if (depth > MAX_DEPTH) return '[Array]'
    const { memory, objects } = this.#walk
    if (!objects.isFastArray(word)) return this.#slowArray(word, depth, inside)
    const count = memory.u32[word + ARRAY_DATA.countWord] as number
    const shown = Math.min(count, MAX_ENTRIES)
    const cells =
      shown === 0
        ? 0
        : memory.block(memory.u32[word + ARRAY_DATA.valuesWord] as number, shown * 8, 'array elements')
    const entries: string[] = []
    for (let i = 0; i < shown && this.#hasRoom; i += 1) {
      entries.push(this.#cell(cells + 2 * i, depth + 1, inside))
    }
    const length = objects.classOf(word) === CLASS.array ? objects.arrayLength(word) : count
    if (entries.length < count) entries.push(`… ${count - entries.length} more items`)
    if (length > count) entries.push(`<${length - count} empty item${length - count === 1 ? '' : 's'}>`)
    entries.push(...this.#properties(word, 1, depth, inside))
    return entryBlock('[', entries, ']')
  }

  /** An array with holes inside: its elements are properties, in any order. */
  #slowArray(word: number, depth: number, inside: readonly number[]): string {
    const { objects } = this.#walk
    const elements: [index: number, text: string][] = []
    const named: string[] = []
    this.#eachProperty(word, 0, depth, inside, (key, value) => {
      if (typeof key === 'number') elements.push([key, value])
      else named.push(`${keyText(key)}: ${value}`)
    })
    elements.sort(([a], [b]) => a - b)
    const entries: string[] = []
    let next = 0
    for (const [index, text] of [...elements, [objects.arrayLength(word), ''] as const]) {
      if (index > next) entries.push(`<${index - next} empty item${index - next === 1 ? '' : 's'}>`)
      if (text !== '') entries.push(text)
      next = index + 1
    }
    return entryBlock('[', [...entries, ...named], ']')
  }

  /** Enumerable own properties from the `first` on, each as text. */
  #properties(word: number, first: number, depth: number, inside: readonly number[]): string[] {
    const entries: string[] = []
    const hidden = this.#eachProperty(word, first, depth, inside, (key, value) => {
      entries.push(`${keyText(key)}: ${value}`)
    })
    if (hidden > 0) entries.push(`… ${hidden} more properties`)
    return entries
  }

  /** Calls `visit` with key and text of each enumerable property. Returns how many there was no room for. */
  #eachProperty(
    word: number,
    first: number,
    depth: number,
    inside: readonly number[],
    visit: (key: string | number, value: string) => void,
  ): number {
    const walk = this.#walk
    const { u32 } = walk.memory
    const { shapeWord, cellWord, count } = walk.objects.properties(word)
    let shown = 0
    let hidden = 0
    for (let i = first; i < count; i += 1) {
      walk.meter.addSteps(1)
      const flags = (u32[shapeWord + 2 * i] as number) >>> SHAPE.flagsShift
      const atom = u32[shapeWord + 2 * i + 1] as number
      if ((flags & PROP.enumerable) === 0 || atom === ATOM.none) continue
      if (shown >= MAX_ENTRIES || !this.#hasRoom) {
        hidden += 1
        continue
      }
      const key = atom >= ATOM.indexFlag ? atom - ATOM.indexFlag : walk.strings.name(atom)
      if (key === undefined) continue
      const cell = cellWord + 2 * i
      const isData = (flags & PROP.kindMask) === 0
      visit(key, isData ? this.#cell(cell, depth + 1, inside) : accessorText(u32, flags, cell))
      shown += 1
    }
    return hidden
  }

  #collection(word: number, classId: number, depth: number, inside: readonly number[]): string {
    const entries: string[] = []
    let count = 0
    eachRecord(this.#walk, word, (record) => {
      count += 1
      if (count > MAX_ENTRIES || !this.#hasRoom || depth > MAX_DEPTH) return
      const key = this.#cell(record + MAP_RECORD.keyWord, depth + 1, inside)
      if (classId === CLASS.set) entries.push(key)
      else entries.push(`${key} => ${this.#cell(record + MAP_RECORD.valueWord, depth + 1, inside)}`)
    })
    if (entries.length < count) entries.push(`… ${count - entries.length} more items`)
    return `${CLASS_NAMES[classId]}(${count}) ${entryBlock('{', entries, '}')}`
  }

  #error(word: number, depth: number, inside: readonly number[]): string {
    const name = errorName(this.#walk, word)
    const message = this.#ownText(word, KNOWN_ATOM.message)
    const stack = this.#ownText(word, KNOWN_ATOM.stack)
    const head = message === undefined || message === '' ? name : `${name}: ${message}`
    if (depth > 0) return `[${head}]`
    const extra = this.#properties(word, 0, depth, inside)
    const shown = stack === undefined ? '' : this.#stackText(stack).trimEnd()
    const frames = shown === '' ? '' : `\n${shown}`
    return `${head}${frames}${extra.length === 0 ? '' : ` ${entryBlock('{', extra, '}')}`}`
  }

  #function(word: number): string {
    const name = this.#ownText(word, KNOWN_ATOM.name)
    return name === undefined || name === '' ? '[Function (anonymous)]' : `[Function: ${name}]`
  }

  #view(word: number, classId: number): string {
    const { memory } = this.#walk
    const kind = viewKind(classId)
    if (kind === undefined) return '[view]'
    const count = memory.u32[word + ARRAY_DATA.countWord] as number
    const data = memory.u32[word + ARRAY_DATA.valuesWord] as number
    const shown = Math.min(count, MAX_ENTRIES)
    if (data + shown * kind.elementBytes > memory.size) throw corrupted('a typed array reaches out of it')
    const copy = memory.u8.slice(data, data + shown * kind.elementBytes).buffer as ArrayBuffer
    const elements = Array.from(
      new kind.make(copy, 0, shown) as unknown as ArrayLike<number | bigint>,
      String,
    )
    if (shown < count) elements.push(`… ${count - shown} more items`)
    return `${CLASS_NAMES[classId]}(${count}) ${entryBlock('[', elements, ']')}`
  }

  #promise(word: number, depth: number, inside: readonly number[]): string {
    const { memory } = this.#walk
    const data = memory.block(memory.u32[word + OBJECT.dataWord] as number, PROMISE.size, 'a Promise')
    const state = memory.u32[data + PROMISE.stateWord] as number
    if (state === PROMISE.pending) return 'Promise { <pending> }'
    const result = depth > MAX_DEPTH ? '…' : this.#cell(data + PROMISE.resultWord, depth + 1, inside)
    return `Promise { ${state === PROMISE.rejected ? '<rejected> ' : ''}${result} }`
  }

  /** Name of the constructor that the prototype names, from data alone. */
  #className(word: number): string {
    const { objects, memory, meter } = this.#walk
    let at = objects.prototype(word)
    if (at === 0) return '[Object: null prototype]'
    for (let i = 0; i < MAX_PROTOTYPES && at !== 0; i += 1) {
      const prototype = objects.object(at)
      if (objects.classOf(prototype) === CLASS.proxy) break
      const cell = objects.ownData(prototype, KNOWN_ATOM.constructor, meter)
      if (cell !== 0) {
        if (((memory.u32[cell + 1] as number) | 0) !== TAG.object) break
        const maker = objects.object(memory.u32[cell] as number)
        return this.#ownText(maker, KNOWN_ATOM.name) ?? 'Object'
      }
      at = objects.prototype(prototype)
    }
    return 'Object'
  }

  #ownText(word: number, atom: number): string | undefined {
    const { objects, memory, meter, strings } = this.#walk
    const cell = objects.ownData(word, atom, meter)
    if (cell === 0) return undefined
    const tag = (memory.u32[cell + 1] as number) | 0
    if (tag !== TAG.string && tag !== TAG.rope) return undefined
    return strings.clipped(tag, memory.u32[cell] as number, MAX_STRING)
  }

  get #hasRoom(): boolean {
    return this.#length < MAX_TEXT
  }
}

function accessorText(u32: Uint32Array, flags: number, cell: number): string {
  if ((flags & PROP.kindMask) !== PROP.getSet) return '[…]'
  if (u32[cell] === 0) return '[Setter]'
  return u32[cell + 1] === 0 ? '[Getter]' : '[Getter/Setter]'
}
