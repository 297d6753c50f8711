/** Values of scripts as the JavaScript API has them, and back. NaNs are one here: the API does not carry their bits. */
import type { SpecValue } from './spec-script.ts'

const view = new DataView(new ArrayBuffer(8))
const externs = new Map<string, object>()

/** Whether a value of this type can pass through the API at all. */
export function canPass({ type }: SpecValue): boolean {
  return type !== 'v128' && type !== 'exnref'
}

export function toJs({ type, value }: SpecValue): unknown {
  const text = String(value)
  switch (type) {
    case 'i32':
      return Number(text) | 0
    case 'i64':
      return BigInt.asIntN(64, BigInt(text))
    case 'f32':
      if (text.startsWith('nan')) return Number.NaN
      view.setUint32(0, Number(text))
      return view.getFloat32(0)
    case 'f64':
      if (text.startsWith('nan')) return Number.NaN
      view.setBigUint64(0, BigInt(text))
      return view.getFloat64(0)
    default: {
      if (text === 'null') return null
      const known = externs.get(text) ?? { extern: text }
      externs.set(text, known)
      return known
    }
  }
}

export function isExpected(expected: SpecValue, actual: unknown): boolean {
  if (expected.type === 'funcref' && expected.value !== 'null') return typeof actual === 'function'
  if (expected.value === undefined) return actual !== null
  return Object.is(toJs(expected), actual)
}
