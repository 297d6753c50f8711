/**
 * Globals that are not there until they are touched: the first look at one evaluates its unit.
 *
 * Invariants
 * 1. Whether a unit was evaluated depends on what the guest did, and on nothing else: equal programs have equal
 *    memories.
 * 2. A global that a guest has overwritten or deleted stays what the guest made of it.
 */
import { define } from './define.ts'
import type { Internals } from './host.ts'

/** Units by the globals that they define. */
const UNITS: Readonly<Record<string, readonly string[]>> = {
  abort: ['AbortController', 'AbortSignal'],
  base64: ['atob', 'btoa'],
  blob: ['Blob', 'File'],
  'byte-streams': ['ReadableByteStreamController', 'ReadableStreamBYOBReader', 'ReadableStreamBYOBRequest'],
  clone: ['structuredClone'],
  crypto: ['crypto', 'Crypto', 'SubtleCrypto'],
  'dom-exception': ['DOMException'],
  encoding: ['TextDecoder', 'TextEncoder'],
  events: ['CustomEvent', 'Event', 'EventTarget'],
  fetch: ['fetch'],
  'form-data': ['FormData'],
  headers: ['Headers'],
  navigator: ['navigator', 'Navigator'],
  performance: ['performance', 'Performance'],
  'queuing-strategies': ['ByteLengthQueuingStrategy', 'CountQueuingStrategy'],
  request: ['Request'],
  response: ['Response'],
  streams: ['ReadableStream', 'ReadableStreamDefaultController', 'ReadableStreamDefaultReader'],
  'text-streams': ['TextDecoderStream', 'TextEncoderStream'],
  'transform-streams': ['TransformStream', 'TransformStreamDefaultController'],
  url: ['URL'],
  'url-search-params': ['URLSearchParams'],
  'writable-streams': ['WritableStream', 'WritableStreamDefaultController', 'WritableStreamDefaultWriter'],
}

const { defineProperty, create, keys } = Object

/** Puts accessors for all lazy globals on `globalThis`. */
export function defineLazyGlobals(internals: Internals): void {
  for (const unit of keys(UNITS)) defineLazily(globalThis, UNITS[unit] ?? [], unit, internals)
}

/** Puts exports of `unit` on `object` when they are touched. */
export function defineLazily(
  object: object,
  names: readonly PropertyKey[],
  unit: string,
  internals: Internals,
): void {
  for (let i = 0; i < names.length; i += 1) {
    const name = names[i] as PropertyKey
    const descriptor = create(null) as PropertyDescriptor
    descriptor.configurable = true
    descriptor.enumerable = false
    descriptor.get = () => {
      const value = internals.use(unit)[name as string]
      define(object, name, value)
      return value
    }
    // What inherits from the object gets a property of its own.
    descriptor.set = function set(this: object, value: unknown) {
      define(this, name, value)
    }
    defineProperty(object, name, descriptor)
  }
}
