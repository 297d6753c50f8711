/** Copies objects that hold no other values and no bytes: dates, regular expressions, boxed primitives. */
import { boxedPrimitive, dateTime, regExpParts } from './object-parts.ts'
import { NODE_BYTES, type ValueMeter } from './value-meter.ts'

/**
 * Counts `value` and copies it.
 * @throws CaissonError `value_too_large`
 */
export function copyLeaf(kind: 'date' | 'regexp' | 'boxed', value: object, meter: ValueMeter): object {
  switch (kind) {
    case 'date':
      meter.addBytes(NODE_BYTES)
      return new Date(dateTime(value))
    case 'boxed': {
      const primitive = boxedPrimitive(value)
      if (typeof primitive === 'string') meter.addBytes(primitive.length)
      else if (typeof primitive === 'bigint') meter.addBigint(primitive)
      else meter.addBytes(NODE_BYTES)
      return Object(primitive) as object
    }
    case 'regexp': {
      const { source, flags } = regExpParts(value)
      meter.checkRegExp(source.length)
      meter.addBytes(NODE_BYTES + source.length + flags.length)
      return new RegExp(source, flags)
    }
  }
}
