/** `wasi:http/types`: the fields of a message, and what all its resources have in common. */
import type { WasiHttpAnswer, WasiResourceState } from '../../../src/ports/wasi-host.ts'
import { InterfaceError } from './component-error.ts'
import type { Preview2Context } from './pollable.ts'
import { Resource } from './resource.ts'

/** Names and values of one message's fields, and their bytes, that are kept. */
const MAX_FIELDS = 256
const MAX_FIELD_BYTES = 65_536
export const NAME: RegExp = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

export type Tagged = { readonly tag: string; readonly val?: unknown }
type Entry = readonly [name: string, value: Uint8Array]
type Answer = Extract<WasiHttpAnswer, { ok: true }>

/** Their checkpoints are refused by this name. */
export abstract class HttpResource extends Resource {
  override state(): Omit<WasiResourceState, 'id'> {
    return { kind: `http ${this.constructor.name}`, data: null }
  }
}

export class Fields extends HttpResource {
  readonly #context: Preview2Context
  #entries: Entry[] = []
  #isImmutable = false

  constructor(context: Preview2Context) {
    super(context.resources)
    this.#context = context
  }

  static of(context: Preview2Context, entries: readonly Entry[], isImmutable: boolean): Fields {
    const fields = new Fields(context)
    for (const [name, value] of entries) fields.append(name, value)
    fields.#isImmutable = isImmutable
    return fields
  }

  get(name: string): Uint8Array[] {
    return this.#entries.filter(([other]) => isSameName(other, name)).map(([, value]) => value)
  }

  has(name: string): boolean {
    return this.#entries.some(([other]) => isSameName(other, name))
  }

  set(name: string, values: readonly Uint8Array[]): void {
    this.delete(name)
    for (const value of values) this.append(name, value)
  }

  delete(name: string): void {
    this.#requireMutable()
    this.#entries = this.#entries.filter(([other]) => !isSameName(other, name))
  }

  append(name: string, value: Uint8Array): void {
    this.#requireMutable()
    const bytes = this.#entries.reduce((sum, [other, held]) => sum + other.length + held.length, 0)
    const isTooMuch =
      this.#entries.length >= MAX_FIELDS || bytes + name.length + value.length > MAX_FIELD_BYTES
    if (isTooMuch || !NAME.test(name) || !VALUE.test(latin1(value))) {
      throw new InterfaceError({ tag: 'invalid-syntax' })
    }
    this.#entries.push([name, value.slice()])
  }

  entries(): Entry[] {
    return [...this.#entries]
  }

  clone(): Fields {
    return Fields.of(this.#context, this.#entries, false)
  }

  freeze(): this {
    this.#isImmutable = true
    return this
  }

  #requireMutable(): void {
    if (this.#isImmutable) throw new InterfaceError({ tag: 'immutable' })
  }
}

/** Fields of an answer, without those that are none. */
export function entriesOf({ headers }: Answer): readonly Entry[] {
  return headers.flatMap(([name, value]): readonly Entry[] =>
    NAME.test(name) && VALUE.test(value) ? [[name, fromLatin1(value)]] : [],
  )
}

export function fitsFields({ headers }: Answer): boolean {
  const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  return headers.length <= MAX_FIELDS && bytes <= MAX_FIELD_BYTES
}

/** A name that is looked for may have as many characters as the guest's memory. */
function isSameName(left: string, right: string): boolean {
  return left.length === right.length && left.toLowerCase() === right.toLowerCase()
}

export function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}

function fromLatin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
