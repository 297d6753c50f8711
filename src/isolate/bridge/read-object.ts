/** Own enumerable string-keyed data properties of objects. */
import { setProperty } from './data-property.ts'
import { ATOM, PROP, SHAPE } from './heap-layout.ts'
import type { HeapReading, Owner, PathStep } from './heap-reading.ts'

/** Fills the copy of a plain object or class instance. */
export function fillObject(
  walk: HeapReading,
  word: number,
  target: Record<string, unknown>,
  owner: Owner,
): void {
  const { u32 } = walk.memory
  const { shapeWord, cellWord, count } = walk.objects.properties(word)
  walk.meter.addSteps(count)
  for (let i = 0; i < count; i += 1) {
    const flags = (u32[shapeWord + 2 * i] as number) >>> SHAPE.flagsShift
    const atom = u32[shapeWord + 2 * i + 1] as number
    if ((flags & PROP.enumerable) === 0 || atom === ATOM.none) continue
    if (atom >= ATOM.indexFlag) {
      const index = atom - ATOM.indexFlag
      walk.meter.addBytes(String(index).length)
      walk.meter.addNodes(1)
      requireData(walk, flags, owner, index)
      target[index] = walk.value(cellWord + 2 * i, owner, index)
      continue
    }
    const key = walk.strings.name(atom)
    if (key === undefined) continue
    walk.meter.addNodes(1)
    if ((flags & PROP.kindMask) !== 0) requireData(walk, flags, owner, key)
    setProperty(target, key, walk.value(cellWord + 2 * i, owner, key))
  }
}

/** Refuses a property whose value is not simply there: to know it, guest code would have to run. */
export function requireData(walk: HeapReading, flags: number, owner: Owner, step: PathStep): void {
  if ((flags & PROP.kindMask) !== 0) walk.refuse('an accessor property', owner, step)
}
