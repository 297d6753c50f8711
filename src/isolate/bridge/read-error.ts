/**
 * Errors: as values (a host `Error` of the same kind) and as what a guest threw (`GuestError`).
 *
 * Invariants
 * 1. Only data counts: `name` is looked for along the prototype chain without running an accessor, over a
 *    bounded number of steps.
 * 2. A host error made here shows the guest's stack or none, never frames of the host.
 */
import { createError, setCause } from '../../values/error-value.ts'
import { defineData } from './data-property.ts'
import { CLASS, KNOWN_ATOM, SHAPE, TAG } from './heap-layout.ts'
import type { HeapReading, Owner, PathStep } from './heap-reading.ts'
import { requireData } from './read-object.ts'

/** A host's constructor of errors looks at its stack, in units of `HostWork`. */
const ERROR_WORK = 2 ** 14
const DEFAULT_NAME = 'Error'
/** Prototypes looked through for a name: error classes of programs are a few levels deep. */
const MAX_PROTOTYPES = 32

/**
 * The host's copy of the error at `word`, without its `cause`. The guest's stack comes along and counts by its
 * length; in the canonical size of the host's walk, which drops stacks, it does not.
 */
export function readErrorShell(walk: HeapReading, word: number, owner: Owner, step: PathStep): Error {
  if (!walk.meter.addHostWork(ERROR_WORK)) walk.refuse('one error too many', owner, step)
  const name = errorName(walk, word)
  const error = createError(name, ownText(walk, word, KNOWN_ATOM.message))
  const stack = ownText(walk, word, KNOWN_ATOM.stack)
  if (stack !== undefined) defineData(error, 'stack', stack, false)
  return error
}

/** Fills in `cause`: the part of an error that can hold any value. */
export function fillError(walk: HeapReading, word: number, target: Error, owner: Owner): void {
  const { memory, objects, meter } = walk
  const { u32 } = memory
  const { shapeWord, cellWord, count } = objects.properties(word)
  meter.addSteps(count)
  for (let i = 0; i < count; i += 1) {
    if (u32[shapeWord + 2 * i + 1] !== KNOWN_ATOM.cause) continue
    requireData(walk, (u32[shapeWord + 2 * i] as number) >>> SHAPE.flagsShift, owner, 'cause')
    meter.addNodes(1)
    setCause(target, walk.value(cellWord + 2 * i, owner, 'cause'))
  }
}

/**
 * Name of the error at `word`: the nearest `name` that is a string, else `Error`. The engine makes the name of
 * `Error.prototype` only when it is asked for, so that it may not be there.
 */
export function errorName(walk: HeapReading, word: number): string {
  const { objects } = walk
  let at = word
  for (let i = 0; i < MAX_PROTOTYPES; i += 1) {
    if (objects.classOf(at) === CLASS.proxy) break
    const name = ownText(walk, at, KNOWN_ATOM.name)
    if (name !== undefined) return name
    const prototype = objects.prototype(at)
    if (prototype === 0) break
    at = objects.object(prototype)
  }
  walk.meter.addBytes(DEFAULT_NAME.length)
  return DEFAULT_NAME
}

/** The own data property `atom` of the object at `word` where it is a string. */
function ownText(walk: HeapReading, word: number, atom: number): string | undefined {
  const { u32 } = walk.memory
  const cell = walk.objects.ownData(word, atom, walk.meter)
  if (cell === 0) return undefined
  const tag = (u32[cell + 1] as number) | 0
  if (tag !== TAG.string && tag !== TAG.rope) return undefined
  return walk.strings.text(tag, u32[cell] as number)
}
