/** Date, RegExp, BigInt and boxed primitives: objects without parts. */
import { patternWork } from '../../values/host-work.ts'
import { NODE_BYTES } from '../../values/value-meter.ts'
import { BIG_INT, OBJECT, REG_EXP, REG_EXP_FLAGS, STRING, TAG } from './heap-layout.ts'
import { corrupted } from './heap-memory.ts'
import { isFloatTag, numberFromWords } from './heap-objects.ts'
import type { HeapReading, Owner, PathStep } from './heap-reading.ts'

export function readDate(walk: HeapReading, word: number): Date {
  const { u32 } = walk.memory
  walk.meter.addBytes(NODE_BYTES)
  const low = u32[word + OBJECT.dataWord] as number
  const high = u32[word + OBJECT.dataWord + 1] as number
  if (high !== TAG.int && !isFloatTag(high)) throw corrupted('a Date holds no number')
  return new Date(numberFromWords(low, high))
}

/** The host's copy. Compiling costs the host time that no fuel pays for, so it is charged first. */
export function readRegExp(walk: HeapReading, word: number, owner: Owner, step: PathStep): RegExp {
  const pattern = walk.memory.u32[word + REG_EXP.patternWord] as number
  walk.meter.checkRegExp(stringLength(walk, pattern))
  const source = walk.strings.flat(pattern)
  const flags = patternFlags(walk, word)
  walk.meter.addBytes(NODE_BYTES + flags.length)
  if (!walk.meter.addHostWork(patternWork(source))) {
    walk.refuse('a RegExp that costs too much to compile', owner, step)
  }
  try {
    return new RegExp(source, flags)
  } catch {
    // Guest and host do not know the same syntax, e.g. modifiers or duplicate named groups.
    return walk.refuse('a RegExp that this host cannot compile', owner, step)
  }
}

/** Flags of the RegExp at `word`, in the order of `RegExp.prototype.flags`. */
export function patternFlags(walk: HeapReading, word: number): string {
  const bytecode = walk.memory.u32[word + REG_EXP.bytecodeWord] as number
  if (stringLength(walk, bytecode) < 8) throw corrupted('a RegExp was never compiled')
  const bits = (walk.memory.u32[(bytecode >>> 2) + REG_EXP.bytecodeFlagsWord] as number) & 0xffff
  let flags = ''
  for (const [flag, bit] of REG_EXP_FLAGS) {
    if ((bits & bit) !== 0) flags += flag
  }
  return flags
}

function stringLength(walk: HeapReading, pointer: number): number {
  const word = walk.memory.block(pointer, STRING.size, 'a string')
  const length = (walk.memory.u32[word + STRING.lengthWord] as number) & STRING.lengthMask
  if (pointer + STRING.size + length > walk.memory.size) throw corrupted('a string does not fit in it')
  return length
}

/** The BigInt whose limbs are at `pointer`. It is at most 128 KiB long, so it is counted when it is there. */
export function readBigInt(walk: HeapReading, pointer: number): bigint {
  const { memory, meter } = walk
  const { u32 } = memory
  const word = memory.block(pointer, BIG_INT.limbsWord * 4, 'a BigInt')
  const count = u32[word + BIG_INT.lengthWord] as number
  if (count === 0 || count > BIG_INT.maxLimbs || pointer + 8 + count * 4 > memory.size) {
    throw corrupted(`a BigInt of ${count} limbs`)
  }
  const limbs = word + BIG_INT.limbsWord
  let hex = '0x'
  for (let i = count - 1; i >= 0; i -= 1) hex += (u32[limbs + i] as number).toString(16).padStart(8, '0')
  const value = BigInt.asIntN(count * 32, BigInt(hex))
  meter.addBigint(value)
  return value
}

/** `Object(1)`, `Object('text')`, `Object(true)`, `Object(1n)`. */
export function readBoxed(walk: HeapReading, word: number): object {
  const { u32 } = walk.memory
  const tag = (u32[word + OBJECT.dataWord + 1] as number) | 0
  if (tag === TAG.object || tag === TAG.symbol) throw corrupted('a boxed primitive holds none')
  return Object(walk.value(word + OBJECT.dataWord, -1, '')) as object
}
