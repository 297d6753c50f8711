/**
 * What a guest threw, as data: bounded, and without asking the guest for anything.
 *
 * Invariants
 * 1. Only own data and the prototype chain's `name` count; accessors and Proxies are not asked.
 * 2. Texts and the chain of causes are clipped: a 40 MB message costs the host a few kilobytes.
 */
import type { GuestError } from '../../machine/turn.ts'
import { inspectWords } from './heap-inspect.ts'
import { ATOM, CLASS, KNOWN_ATOM, PROP, SHAPE, TAG } from './heap-layout.ts'
import type { HeapWalk } from './heap-walk.ts'
import { errorName } from './read-error.ts'

/** Units kept of a message, of a stack, and of a name or code. */
const MAX_MESSAGE = 8192
const MAX_STACK = 8192
const MAX_NAME = 128
/** Errors in a chain of causes. */
const MAX_CAUSES = 4
/** Properties looked through for one by its name. */
const MAX_PROPERTIES = 64

/** Limits of one such read, all texts together. */
const ERROR_LIMITS = { bytes: 1 << 18, nodes: 1 << 14, depth: 16 }

/** The error in a value with these words. @throws CaissonError `corrupted` */
export function readGuestError(walk: HeapWalk, low: number, high: number): GuestError {
  walk.start(ERROR_LIMITS, 'error')
  return readError(walk, low, high, MAX_CAUSES)
}

function readError(walk: HeapWalk, low: number, high: number, causes: number): GuestError {
  const tag = high | 0
  if (tag === TAG.string || tag === TAG.rope) {
    return { name: 'Error', message: walk.strings.clipped(tag, low, MAX_MESSAGE) }
  }
  if (tag !== TAG.object) return { name: 'Error', message: inspectWords(walk, low, high) }
  const word = walk.objects.object(low)
  const message = text(walk, word, KNOWN_ATOM.message, MAX_MESSAGE)
  const isError = walk.objects.classOf(word) === CLASS.error
  if (!isError && message === undefined) return { name: 'Error', message: inspectWords(walk, low, high) }
  const stack = text(walk, word, KNOWN_ATOM.stack, MAX_STACK)
  const position = stack === undefined ? undefined : firstPosition(stack)
  const code = codeOf(walk, word)
  const causeCell = causes > 0 ? walk.objects.ownData(word, KNOWN_ATOM.cause, walk.meter) : 0
  const { u32 } = walk.memory
  return {
    name: isError ? clip(errorName(walk, word)) : (text(walk, word, KNOWN_ATOM.name, MAX_NAME) ?? 'Error'),
    message: message ?? '',
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack }),
    ...(position === undefined ? {} : { position }),
    ...(causeCell === 0
      ? {}
      : { cause: readError(walk, u32[causeCell] as number, u32[causeCell + 1] as number, causes - 1) }),
  }
}

function clip(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}…`
}

/** At most `most` units of the own data property `atom`, where it is a string. */
function text(walk: HeapWalk, word: number, atom: number, most: number): string | undefined {
  const { u32 } = walk.memory
  const cell = walk.objects.ownData(word, atom, walk.meter)
  if (cell === 0) return undefined
  const tag = (u32[cell + 1] as number) | 0
  if (tag !== TAG.string && tag !== TAG.rope) return undefined
  return walk.strings.clipped(tag, u32[cell] as number, most)
}

/** The own data property `code` where it is a string. */
function codeOf(walk: HeapWalk, word: number): string | undefined {
  const { u32 } = walk.memory
  const cell = ownDataNamed(walk, word, 'code')
  const isText = cell !== 0 && ((u32[cell + 1] as number) | 0) === TAG.string
  return isText ? walk.strings.clipped(TAG.string, u32[cell] as number, MAX_NAME) : undefined
}

/** Word of the cell of an own data property whose atom is not one of the engine's own, of the first few; else 0. */
export function ownDataNamed(walk: HeapWalk, word: number, name: string): number {
  const { u32 } = walk.memory
  const { shapeWord, cellWord, count } = walk.objects.properties(word)
  for (let i = 0; i < Math.min(count, MAX_PROPERTIES); i += 1) {
    const atom = u32[shapeWord + 2 * i + 1] as number
    if (atom === ATOM.none || atom >= ATOM.indexFlag || walk.strings.name(atom) !== name) continue
    const flags = (u32[shapeWord + 2 * i] as number) >>> SHAPE.flagsShift
    return (flags & PROP.kindMask) === 0 ? cellWord + 2 * i : 0
  }
  return 0
}

/** `file`, line and column of the first frame that has them: `at f (file:1:2)` or `at file:1:2`. */
function firstPosition(stack: string): GuestError['position'] {
  for (const frame of stack.split('\n')) {
    const open = frame.lastIndexOf('(')
    const place = open < 0 ? frame.trim().replace(/^at /, '') : frame.slice(open + 1).replace(/\)\s*$/, '')
    const beforeColumn = place.lastIndexOf(':')
    const beforeLine = place.lastIndexOf(':', beforeColumn - 1)
    if (beforeLine <= 0) continue
    const line = Number(place.slice(beforeLine + 1, beforeColumn))
    const column = Number(place.slice(beforeColumn + 1))
    if (Number.isSafeInteger(line) && Number.isSafeInteger(column) && line > 0 && column > 0) {
      return { file: place.slice(0, beforeLine), line, column }
    }
  }
  return undefined
}
