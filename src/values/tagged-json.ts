/**
 * Values as JSON text can carry them: what the command line prints with `--json` and reads with `--input`.
 *
 * Plain JSON stays as it is. Everything else becomes an object with the property "$caisson", which names its form;
 * an object that has such a property itself is wrapped. An object that is reached more than once is given an id
 * where it stands and is referred to elsewhere. The forms are listed in docs/value-encoding.md.
 *
 * Invariants
 * 1. `fromTaggedJson(JSON.parse(JSON.stringify(toTaggedJson(value))))` is `value`, sharing and cycles included.
 * 2. The JSON is as deep as the value by the shortest way, never as deep as its longest path.
 * 3. The input of `fromTaggedJson` is hostile: bounded by its own size and the limits, refused with its path.
 */
import { copyValue } from './copy-value.ts'
import { DEFAULT_VALUE_LIMITS, type ValueLimits } from './limits.ts'
import type { JsonValue } from './tagged-json-form.ts'
import { TaggedJsonReader } from './tagged-json-reader.ts'
import { TaggedJsonWriter } from './tagged-json-writer.ts'

export type { JsonValue }

/**
 * `value` in the tagged form.
 * @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep`
 */
export function toTaggedJson(value: unknown, limits: ValueLimits = DEFAULT_VALUE_LIMITS): JsonValue {
  return new TaggedJsonWriter().write(copyValue(value, limits))
}

/**
 * The value that `json`, as parsed by `JSON.parse`, stands for.
 * @throws CaissonError `invalid_argument` with the path for a form that does not exist or is incomplete,
 * `value_too_large`, `value_too_deep`
 */
export function fromTaggedJson(json: unknown, limits: ValueLimits = DEFAULT_VALUE_LIMITS): unknown {
  const value = new TaggedJsonReader().read(json)
  // What was made is no larger than the text; the limits speak of the value.
  return copyValue(value, limits)
}
