/**
 * Strings out of a guest's heap: flat strings in one or two bytes per unit, ropes, and names of properties.
 *
 * Invariants
 * 1. A string arrives unit for unit: NUL and lone surrogates included.
 * 2. The meter is told the length before anything of that length is allocated or walked.
 * 3. What the intern table returns was compared character for character. It never trusts an address, an
 *    atom number or a hash: a guest can free and reuse all of them, and a restored guest starts with an
 *    empty table, so anything else could read differently in a replay.
 */

import { ValueMeter } from '../../values/value-meter.ts'
import { ATOM, ROPE, RUNTIME, STRING, TAG } from './heap-layout.ts'
import { corrupted, type HeapMemory } from './heap-memory.ts'

/** Longest string that the intern table keeps, in characters of one byte. */
const MAX_INTERNED = 24
const INTERN_WORDS = MAX_INTERNED / 4
const INTERN_SLOTS = 512
/** The engine rebalances its ropes at a depth of 60. */
const MAX_ROPE_DEPTH = 1024
/** Arguments of one `String.fromCharCode`: far below what any engine's stack takes. */
const CHUNK = 4096

const NO_ROOM = new ValueMeter({ bytes: 0, nodes: 0, depth: 0 }, () => '')

const ascii = new TextDecoder('utf-8', { ignoreBOM: true })
const utf16 = new TextDecoder('utf-16le', { ignoreBOM: true })
const fromCharCode = String.fromCharCode
const LITTLE: readonly string[] = Array.from({ length: 256 }, (_, unit) => String.fromCharCode(unit))
/** Argument lists by length, reused: building a fresh one costs more than the string. */
const UNITS: readonly number[][] = Array.from({ length: MAX_INTERNED + 1 }, (_, n) =>
  new Array<number>(n).fill(0),
)

export class HeapStrings {
  readonly #memory: HeapMemory
  readonly #runtime: number
  /** Counts the length of every string before it is copied. */
  #meter: ValueMeter = NO_ROOM
  /** Word of the atom table, and how many atoms there are. */
  #atoms = 0
  #atomCount = 0

  /** Interned strings by slot, with their words (padded with zero bytes) for the comparison. */
  readonly #interned: (string | undefined)[] = []
  #internedWords: Uint32Array = new Uint32Array(0)

  constructor(memory: HeapMemory, runtimePointer: number) {
    this.#memory = memory
    this.#runtime = runtimePointer
  }

  /** Begins a read: `meter` counts from here on, and the atom table is where it is now. */
  start(meter: ValueMeter): void {
    const { u32 } = this.#memory
    const runtime = this.#runtime >>> 2
    const count = u32[runtime + RUNTIME.atomSize / 4] as number
    const table = u32[runtime + RUNTIME.atomArray / 4] as number
    if ((table & 3) !== 0 || table + count * 4 > this.#memory.size)
      throw corrupted('the atom table is out of place')
    this.#atoms = table >>> 2
    this.#atomCount = count
    this.#meter = meter
  }

  /** The flat string whose `JSString` is at `pointer`. @throws CaissonError `corrupted` */
  flat(pointer: number): string {
    const memory = this.#memory
    const word = memory.block(pointer, STRING.size, 'a string')
    const lengthWord = memory.u32[word + STRING.lengthWord] as number
    const length = lengthWord & STRING.lengthMask
    const wide = lengthWord >>> 31
    const start = pointer + STRING.size
    if (start + (length << wide) > memory.size || length > STRING.maxLength) {
      throw corrupted(`a string of ${length} units does not fit in it`)
    }
    this.#meter.addBytes(length)
    if (wide === 1) return wideText(memory.u16, start >>> 1, length)
    if (length <= MAX_INTERNED) return this.#short(start, length)
    return narrowText(memory.u8, start, length)
  }

  /** The string in a value cell that carries `tag` (`string` or `rope`) and `pointer`. */
  text(tag: number, pointer: number): string {
    return tag === TAG.string ? this.flat(pointer) : this.#rope(pointer)
  }

  /** As `text`, but at most `most` units of it, with a mark where more was there. */
  clipped(tag: number, pointer: number, most: number): string {
    if (tag === TAG.rope) return this.#clippedRope(pointer, most)
    const memory = this.#memory
    const word = memory.block(pointer, STRING.size, 'a string')
    const lengthWord = memory.u32[word + STRING.lengthWord] as number
    const length = lengthWord & STRING.lengthMask
    if (length <= most) return this.flat(pointer)
    const wide = lengthWord >>> 31
    const start = pointer + STRING.size
    if (start + (most << wide) > memory.size)
      throw corrupted(`a string of ${length} units does not fit in it`)
    this.#meter.addBytes(most)
    const text = wide === 1 ? wideText(memory.u16, start >>> 1, most) : narrowText(memory.u8, start, most)
    return `${text}… (${length - most} more)`
  }

  /** Name of the property `atom`, or undefined where the atom is a symbol or a private name. */
  name(atom: number): string | undefined {
    if (atom >= this.#atomCount) throw corrupted(`there is no atom ${atom}`)
    const { u32 } = this.#memory
    const pointer = u32[this.#atoms + atom] as number
    const word = this.#memory.block(pointer, STRING.size, 'an atom')
    if ((u32[word + STRING.hashWord] as number) >>> ATOM.typeShift !== ATOM.typeString) return undefined
    return this.flat(pointer)
  }

  /** A string of at most `MAX_INTERNED` one-byte characters, from the intern table when it is there. */
  #short(start: number, length: number): string {
    const { u8, u32 } = this.#memory
    if (length === 0) return ''
    if (length === 1) return LITTLE[u8[start] as number] as string
    const first = start >>> 2
    const whole = length >>> 2
    const rest = length & 3
    let hash = length
    for (let i = 0; i < whole; i += 1) hash = Math.imul(hash ^ (u32[first + i] as number), 0x9e37_79b1)
    let last = 0
    if (rest !== 0) {
      last = (u32[first + whole] as number) & ((1 << (rest << 3)) - 1)
      hash = Math.imul(hash ^ last, 0x9e37_79b1)
    }
    const slot = (hash ^ (hash >>> 15)) & (INTERN_SLOTS - 1)
    const base = slot * INTERN_WORDS
    const known = this.#interned[slot]
    if (known !== undefined && known.length === length) {
      const words = this.#internedWords
      let same = rest === 0 || words[base + whole] === last
      for (let i = 0; same && i < whole; i += 1) same = words[base + i] === u32[first + i]
      if (same) return known
    }
    const units = UNITS[length] as number[]
    for (let i = 0; i < length; i += 1) units[i] = u8[start + i] as number
    const text: string = fromCharCode.apply(null, units)
    if (this.#internedWords.length === 0) {
      this.#internedWords = new Uint32Array(INTERN_SLOTS * INTERN_WORDS)
      for (let i = 0; i < INTERN_SLOTS; i += 1) this.#interned.push(undefined)
    }
    for (let i = 0; i < whole; i += 1) this.#internedWords[base + i] = u32[first + i] as number
    if (rest !== 0) this.#internedWords[base + whole] = last
    this.#interned[slot] = text
    return text
  }

  /**
   * Joins a rope. It is walked with a stack of our own: the depth of a corrupted rope is whatever it likes.
   * Each leaf shortens what is still missing, so that a rope that contains itself ends.
   */
  #rope(pointer: number): string {
    const head = this.#memory.block(pointer, ROPE.size, 'a rope')
    const length = this.#memory.u32[head + ROPE.lengthWord] as number
    if (length > STRING.maxLength) throw corrupted(`a rope of ${length} units`)
    let missing = length
    this.#meter.addBytes(length)
    const parts: string[] = []
    this.#eachLeaf(pointer, length, (leaf, leafLength) => {
      if (leafLength > missing) throw corrupted('the parts of a rope are longer than the rope')
      missing -= leafLength
      // Charged above, for the whole rope.
      this.#meter.addBytes(-leafLength)
      parts.push(this.flat(leaf))
      return true
    })
    if (missing !== 0) throw corrupted('the parts of a rope are shorter than the rope')
    return parts.join('')
  }

  #clippedRope(pointer: number, most: number): string {
    const head = this.#memory.block(pointer, ROPE.size, 'a rope')
    const length = this.#memory.u32[head + ROPE.lengthWord] as number
    let text = ''
    this.#eachLeaf(pointer, Math.min(length, most), (leaf) => {
      text += this.clipped(TAG.string, leaf, most)
      return text.length < most
    })
    return length <= most && text.length === length ? text : `${text.slice(0, most)}… (${length - most} more)`
  }

  /** Calls `visit` with the address and length of each flat part, from left to right, until it says false. */
  #eachLeaf(pointer: number, total: number, visit: (leaf: number, length: number) => boolean): void {
    const memory = this.#memory
    const cells: number[] = [(pointer + ROPE.rightWord * 4) >>> 2, (pointer + ROPE.leftWord * 4) >>> 2]
    let steps = 0
    for (let cell = cells.pop(); cell !== undefined; cell = cells.pop()) {
      steps += 1
      if (steps > 4 * total + 16) throw corrupted('a rope has more parts than characters')
      const tag = (memory.u32[cell + 1] as number) | 0
      const target = memory.u32[cell] as number
      if (tag === TAG.string) {
        const leaf = memory.block(target, STRING.size, 'a string')
        const length = (memory.u32[leaf + STRING.lengthWord] as number) & STRING.lengthMask
        if (!visit(target, length)) return
      } else if (tag === TAG.rope) {
        const inner = memory.block(target, ROPE.size, 'a rope')
        cells.push(inner + ROPE.rightWord, inner + ROPE.leftWord)
        if (cells.length > MAX_ROPE_DEPTH) throw corrupted('a rope is deeper than the engine makes them')
      } else {
        throw corrupted('a part of a rope is not a string')
      }
    }
  }
}

/** Characters of one byte: Latin-1, which `TextDecoder` does not know (its `latin1` is windows-1252). */
function narrowText(u8: Uint8Array, start: number, length: number): string {
  const bytes = u8.subarray(start, start + length)
  if (isAscii(bytes)) return ascii.decode(bytes)
  return chunkedText(bytes)
}

/** Characters of two bytes. A decoder would replace lone surrogates, so it only gets text without any. */
function wideText(u16: Uint16Array, start: number, length: number): string {
  const units = u16.subarray(start, start + length)
  return length > CHUNK && !hasSurrogates(units) ? utf16.decode(units) : chunkedText(units)
}

function chunkedText(units: Uint8Array | Uint16Array): string {
  if (units.length <= CHUNK) return fromCharCode.apply(null, units as unknown as number[])
  const parts: string[] = []
  for (let i = 0; i < units.length; i += CHUNK) {
    parts.push(fromCharCode.apply(null, units.subarray(i, i + CHUNK) as unknown as number[]))
  }
  return parts.join('')
}

function hasSurrogates(units: Uint16Array): boolean {
  for (let i = 0; i < units.length; i += 1) {
    if (((units[i] as number) & 0xf800) === 0xd800) return true
  }
  return false
}

function isAscii(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i += 1) {
    if ((bytes[i] as number) > 127) return false
  }
  return true
}
