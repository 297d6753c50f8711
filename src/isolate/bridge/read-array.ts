/**
 * Arrays with their holes and extra properties, and arguments objects.
 *
 * Invariants
 * 1. A hole costs like an element, so that a `length` alone cannot make the host allocate. An array that is
 *    nearly all holes and too long for the limits is refused as sparse.
 */
import { NODE_BYTES } from '../../values/value-meter.ts'
import { defineData } from './data-property.ts'
import { ARRAY_DATA, ATOM, CLASS, KNOWN_ATOM, PROP, SHAPE, VAR_REF } from './heap-layout.ts'
import { corrupted } from './heap-memory.ts'
import type { HeapReading, Owner } from './heap-reading.ts'
import { fillObject, requireData } from './read-object.ts'

/** An array too long for the limits is called sparse when fewer than one in this many elements exist. */
const SPARSE_RATIO = 8

export function fillArray(walk: HeapReading, word: number, target: unknown[], owner: Owner): void {
  const length = walk.objects.arrayLength(word)
  if (walk.objects.isFastArray(word)) fillFast(walk, word, target, owner, length)
  else fillSlow(walk, word, target, owner, length)
  if (walk.objects.properties(word).count > 1) fillNamed(walk, word, target, owner)
}

/** Elements side by side. A length beyond them means holes at the end. */
function fillFast(walk: HeapReading, word: number, target: unknown[], owner: Owner, length: number): void {
  const count = walk.memory.u32[word + ARRAY_DATA.countWord] as number
  if (count > length) throw corrupted('an array has more elements than its length')
  const cells = elementCells(walk, word, count)
  chargeLength(walk, length, count, owner)
  for (let i = 0; i < count; i += 1) target.push(walk.value(cells + 2 * i, owner, i))
  if (length > count) target.length = length
}

/** Elements as properties with index names, in any order. */
function fillSlow(walk: HeapReading, word: number, target: unknown[], owner: Owner, length: number): void {
  const { u32 } = walk.memory
  const { shapeWord, cellWord, count } = walk.objects.properties(word)
  walk.meter.addSteps(2 * count)
  let present = 0
  for (let i = 0; i < count; i += 1) {
    if (isElement(u32[shapeWord + 2 * i] as number, u32[shapeWord + 2 * i + 1] as number, length))
      present += 1
  }
  chargeLength(walk, length, present, owner)
  target.length = length
  for (let i = 0; i < count; i += 1) {
    const flagsWord = u32[shapeWord + 2 * i] as number
    const atom = u32[shapeWord + 2 * i + 1] as number
    if (!isElement(flagsWord, atom, length)) continue
    const index = atom - ATOM.indexFlag
    requireData(walk, flagsWord >>> SHAPE.flagsShift, owner, index)
    target[index] = walk.value(cellWord + 2 * i, owner, index)
  }
}

function isElement(flagsWord: number, atom: number, length: number): boolean {
  if (((flagsWord >>> SHAPE.flagsShift) & PROP.enumerable) === 0 || atom < ATOM.indexFlag) return false
  if (atom - ATOM.indexFlag >= length) throw corrupted('an array has an element beyond its length')
  return true
}

function chargeLength(walk: HeapReading, length: number, present: number, owner: Owner): void {
  const holes = length - present
  if (holes > 0 && !walk.meter.hasRoomFor(holes) && present < length / SPARSE_RATIO) {
    walk.refuseContainer(`a sparse array (${present} elements, length ${length})`, owner)
  }
  walk.meter.addNodes(length)
  walk.meter.addBytes(holes * NODE_BYTES)
}

/** Properties of an array that are not elements. The first one is `length`, which is not enumerable. */
function fillNamed(walk: HeapReading, word: number, target: unknown[], owner: Owner): void {
  const { u32 } = walk.memory
  const { shapeWord, cellWord, count } = walk.objects.properties(word)
  walk.meter.addSteps(count)
  for (let i = 1; i < count; i += 1) {
    const flags = (u32[shapeWord + 2 * i] as number) >>> SHAPE.flagsShift
    const atom = u32[shapeWord + 2 * i + 1] as number
    if ((flags & PROP.enumerable) === 0 || atom === ATOM.none || atom >= ATOM.indexFlag) continue
    if (atom === KNOWN_ATOM.length) throw corrupted('an array has two lengths')
    const key = walk.strings.name(atom)
    if (key === undefined) continue
    walk.meter.addNodes(1)
    requireData(walk, flags, owner, key)
    defineData(target, key, walk.value(cellWord + 2 * i, owner, key), true)
  }
}

/** `arguments` becomes a plain object with index keys, as structured clone makes of it. */
export function fillArguments(
  walk: HeapReading,
  word: number,
  target: Record<string, unknown>,
  owner: Owner,
): void {
  const { memory, objects, meter } = walk
  const { u32 } = memory
  if (objects.isFastArray(word)) {
    const count = u32[word + ARRAY_DATA.countWord] as number
    const mapped = objects.classOf(word) === CLASS.mappedArguments
    const cells = mapped ? 0 : elementCells(walk, word, count)
    const references = mapped ? elementReferences(walk, word, count) : 0
    meter.addNodes(count)
    for (let i = 0; i < count; i += 1) {
      meter.addBytes(String(i).length)
      const cell = mapped ? variableCell(walk, u32[references + i] as number) : cells + 2 * i
      target[i] = walk.value(cell, owner, i)
    }
  }
  fillObject(walk, word, target, owner)
}

function elementCells(walk: HeapReading, word: number, count: number): number {
  if (count === 0) return 0
  return walk.memory.block(
    walk.memory.u32[word + ARRAY_DATA.valuesWord] as number,
    count * 8,
    'array elements',
  )
}

function elementReferences(walk: HeapReading, word: number, count: number): number {
  if (count === 0) return 0
  return walk.memory.block(walk.memory.u32[word + ARRAY_DATA.valuesWord] as number, count * 4, 'arguments')
}

/** Cell of a parameter that a function shares with its `arguments`. */
function variableCell(walk: HeapReading, pointer: number): number {
  const { memory } = walk
  const reference = memory.block(pointer, VAR_REF.size, 'a variable')
  return memory.block(memory.u32[reference + VAR_REF.valuePointerWord] as number, 8, "a variable's value")
}
