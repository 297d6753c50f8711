/**
 * `kv.*`: a small store that a program can rely on between its calls and runs.
 *
 * Values are JSON, and refused with their path where JSON would change them silently. Each has a version, so that
 * two programs that count the same thing do not lose a step (`kv.compareAndSet`).
 */
import { checkOptions, type OptionChecks, trueOrFalse, withMethods } from '../../src/base/option-checks.ts'
import type { Capability } from '../../src/capability/capability.ts'
import type { JsonValue } from '../../src/values/tagged-json-form.ts'
import { defineBinding } from '../define-binding.ts'
import { either, list, object } from '../schema/composites.ts'
import { jsonValue } from '../schema/json-value.ts'
import { flag, integer, nothing, text } from '../schema/scalars.ts'
import type { KeyValueStore } from './key-value-store.ts'
import { createMemoryKeyValueStore } from './memory-key-value-store.ts'

/** Where the values live. */
export interface KeyValueOptions {
  /** One store per trust domain. Default: a new store in memory. */
  readonly store?: KeyValueStore
  /** False leaves out everything that writes. Default true. */
  readonly write?: boolean
}

const OPTIONS: OptionChecks<KeyValueOptions> = {
  store: withMethods('a key-value store', 'get', 'set', 'delete', 'list'),
  write: trueOrFalse,
}
const MAX_LIST = 1_000
const TIMEOUT_MS = 10_000

const key = text({ minLength: 1, maxLength: 512, description: 'Any text, for example "cart:42".' })
const value = jsonValue({ description: 'Any JSON value.' })
const version = integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const entry = object({ value, version })

/**
 * The capabilities `kv.get` and `kv.list`, and with `write` also `kv.set`, `kv.compareAndSet` and `kv.delete`.
 * @throws CaissonError `invalid_argument` for what is no store
 */
export function createKeyValueCapabilities(options: KeyValueOptions = {}): readonly Capability[] {
  checkOptions(options, OPTIONS)
  const { store = createMemoryKeyValueStore(), write = true } = options
  return write ? [...readers(store), ...writers(store)] : readers(store)
}

function readers(store: KeyValueStore): readonly Capability[] {
  return [
    defineBinding({
      name: 'kv.get',
      description:
        'Reads a key: `(await kv.get({ key: "cart:42" }))?.value`. Gives `{ value, version }`, or null where there is none.',
      effect: 'read',
      timeoutMs: TIMEOUT_MS,
      input: object({ key }),
      output: either(nothing, entry),
      invoke: async (input) => {
        const found = await store.get(input.key)
        return found === undefined ? null : { value: decode(found.value), version: found.version }
      },
    }),
    defineBinding({
      name: 'kv.list',
      description: `Lists keys in order: \`await kv.list({ prefix: "cart:" })\` gives \`{ entries: [{ key, version, bytes }], next }\`. Pass \`next\` as \`after\` for the following page of at most ${MAX_LIST}; it is null at the end.`,
      effect: 'read',
      timeoutMs: TIMEOUT_MS,
      input: object(
        {},
        {
          prefix: text({ maxLength: 512 }),
          after: text({ maxLength: 512 }),
          limit: integer({ minimum: 1, maximum: MAX_LIST }),
        },
      ),
      output: object({
        entries: list(object({ key, version, bytes: version }), { maxItems: MAX_LIST }),
        next: either(nothing, key),
      }),
      invoke: async ({ prefix = '', after, limit = 100 }) => {
        // One more than asked for tells whether there is a next page.
        const range = { prefix, limit: limit + 1, ...(after !== undefined && { after }) }
        const found = await store.list(range)
        const entries = found.slice(0, limit)
        return { entries, next: found.length > limit ? (entries.at(-1)?.key ?? null) : null }
      },
    }),
  ]
}

function writers(store: KeyValueStore): readonly Capability[] {
  return [
    defineBinding({
      name: 'kv.set',
      description:
        'Writes a JSON value under a key, whatever was there: `await kv.set({ key: "cart:42", value: { items: 3 } })`.',
      effect: 'write',
      idempotent: true,
      timeoutMs: TIMEOUT_MS,
      input: object({ key, value }),
      output: object({ version }),
      expose: ['quota_exceeded'],
      // Without a condition a store always writes, so there is always a version.
      invoke: async (input) => ({ version: (await store.set(input.key, encode(input.value))) ?? 0 }),
    }),
    defineBinding({
      name: 'kv.compareAndSet',
      description:
        'Writes only if the key still has the version you read (0: only if it does not exist): `const { swapped } = await kv.compareAndSet({ key, version, value })`. Read again and retry where `swapped` is false.',
      effect: 'write',
      timeoutMs: TIMEOUT_MS,
      input: object({ key, version, value }),
      output: object({ swapped: flag(), version }),
      expose: ['quota_exceeded'],
      invoke: async (input) => {
        const written = await store.set(input.key, encode(input.value), input.version)
        if (written !== undefined) return { swapped: true, version: written }
        return { swapped: false, version: (await store.get(input.key))?.version ?? 0 }
      },
    }),
    defineBinding({
      name: 'kv.delete',
      description:
        'Deletes a key, with `version` only if it still has that version: `await kv.delete({ key: "cart:42" })`.',
      effect: 'write',
      idempotent: true,
      timeoutMs: TIMEOUT_MS,
      input: object({ key }, { version }),
      output: object({ deleted: flag() }),
      invoke: async (input) => ({ deleted: await store.delete(input.key, input.version) }),
    }),
  ]
}

function encode(json: JsonValue): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(json))
}

function decode(bytes: Uint8Array): JsonValue {
  return JSON.parse(new TextDecoder().decode(bytes)) as JsonValue
}
