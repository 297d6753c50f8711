/**
 * Calls by which a reactor is entered that is no command: exports that take texts and lists of texts, lowered as the
 * canonical ABI does it (a text is its address and its bytes in UTF-8, a list its address and its count, room comes from
 * `cabi_realloc`). What such an export returns is not looked at.
 *
 * Every address that the module's allocator gives is the guest's word, and checked before anything is written.
 */
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { TurnControl } from '../../machine/turn.ts'
import { coreMemory } from '../core/capture-core.ts'
import type { CoreEnd } from '../core/core-end.ts'
import type { CoreGuest, CoreInstance } from '../core/core-guest.ts'
import type { CoreManifest } from '../core/core-manifest.ts'
import { exportsText } from '../near-exports.ts'
import { isInside } from './guest-text.ts'

/** A text, or a list of texts. */
export type ModuleCallArgument = string | readonly string[]

export interface ModuleCall {
  /** Of the export, as it stands in the module. */
  readonly name: string
  readonly args: readonly ModuleCallArgument[]
}

const REALLOC = 'cabi_realloc'
const LONGEST_NAME = 1_000
const MOST_CALLS = 100
const MOST_ARGUMENTS = 16
const MOST_TEXTS = 10_000
const WORD = 4

export function areModuleCalls(given: unknown): given is readonly ModuleCall[] {
  return Array.isArray(given) && given.length <= MOST_CALLS && given.every(isModuleCall)
}

function isModuleCall(given: unknown): boolean {
  const { name, args } = Object(given) as Partial<ModuleCall>
  return (
    typeof name === 'string' &&
    name.length <= LONGEST_NAME &&
    Array.isArray(args) &&
    args.length <= MOST_ARGUMENTS &&
    args.every(isArgument)
  )
}

function isArgument(given: unknown): boolean {
  if (typeof given === 'string') return true
  return Array.isArray(given) && given.length <= MOST_TEXTS && given.every((text) => typeof text === 'string')
}

/** Characters that calls bring into the guest. */
export function callTexts(calls: readonly ModuleCall[]): number {
  return calls.flatMap(({ args }) => args.flat()).reduce((sum, text) => sum + text.length, 0)
}

/** @throws CaissonError `invalid_module` where the module has no such export, or gives no room for texts */
export function checkCall(manifest: Pick<CoreManifest, 'exports'>, call: CalledExport): void {
  const { exports } = manifest
  const wanted = call.args.length * 2
  if (numbersOf(exports, call.name) === wanted && (wanted === 0 || numbersOf(exports, REALLOC) === 4)) return
  throw new CaissonError('invalid_module', clipText(callProblem(manifest, call), 2_000), {
    details: { reason: 'no entry' },
  })
}

type CalledExport = Pick<ModuleCall, 'name' | 'args'>

/** How many parameters it has, where all are numbers of 32 bits. */
function numbersOf(exports: CoreManifest['exports'], of: string): number | undefined {
  const found = exports.find(({ name, kind }) => name === of && kind === 'function')?.signature?.params
  return found?.every((type) => type === 'i32') === true ? found.length : undefined
}

function callProblem({ exports }: Pick<CoreManifest, 'exports'>, { name, args }: CalledExport): string {
  const shown = JSON.stringify(name.slice(0, 80))
  const wanted = args.length * 2
  const functions = exports.filter(({ kind }) => kind === 'function')
  const found = functions.find((item) => item.name === name)
  if (found === undefined) {
    const names = functions.map((item) => item.name)
    const entry = 'A command has "_start"; of other modules name what is to be run (entry).'
    return `The module exports no function ${shown}.${exportsText(name, names)} ${entry}`
  }
  if (numbersOf(exports, name) === wanted)
    return `${shown} is called with texts, and the module exports no "${REALLOC}" that gives room for them.`
  const has = found.signature?.params.join(', ')
  const count = `${args.length} ${args.length === 1 ? 'argument' : 'arguments'}`
  return `${shown} of the module takes ${has === '' ? 'no parameters' : `(${has})`}, and is called with ${count}: two i32 for each text or list of texts.`
}

/** What a call passes, or how the guest ended that was asked for room. */
export type Lowered = { readonly numbers: readonly number[] } | { readonly end: CoreEnd }

/** Puts the arguments of a call into the guest. */
export function lowerCall(
  guest: CoreGuest,
  instance: CoreInstance,
  { args }: ModuleCall,
  control: TurnControl,
): Lowered {
  const room = (align: number, bytes: number): number | CoreEnd => {
    const end = guest.run(instance, REALLOC, [0, 0, align, bytes], control)
    if (end.status === 'suspended') return fault('The module waits where it is asked for room.')
    if (end.status !== 'returned') return end
    const at = Number(end.values[0]) >>> 0
    const memory = coreMemory(guest)
    return memory !== undefined && isInside(memory, at, bytes)
      ? at
      : fault('The allocator of the module gave an address outside of its memory.')
  }
  const write = (at: number, bytes: Uint8Array): void => {
    const memory = coreMemory(guest)
    if (memory !== undefined) new Uint8Array(memory.buffer).set(bytes, at)
  }
  const put = (text: string): readonly [at: number, bytes: number] | CoreEnd => {
    const bytes = new TextEncoder().encode(text)
    const at = room(1, bytes.length)
    if (typeof at !== 'number') return at
    write(at, bytes)
    return [at, bytes.length]
  }
  const putAll = (texts: readonly string[]): readonly [at: number, count: number] | CoreEnd => {
    const words = new DataView(new ArrayBuffer(texts.length * 2 * WORD))
    const list = room(WORD, words.byteLength)
    if (typeof list !== 'number') return list
    for (const [index, text] of texts.entries()) {
      const placed = put(text)
      if ('status' in placed) return placed
      for (const [word, value] of placed.entries()) words.setUint32((index * 2 + word) * WORD, value, true)
    }
    write(list, new Uint8Array(words.buffer))
    return [list, texts.length]
  }
  const numbers: number[] = []
  for (const arg of args) {
    const placed = typeof arg === 'string' ? put(arg) : putAll(arg)
    if ('status' in placed) return { end: placed }
    numbers.push(...placed)
  }
  return { numbers }
}

function fault(message: string): CoreEnd {
  return { status: 'faulted', error: new CaissonError('corrupted', message) }
}
