/** The limits of memories and tables in the binary format: how large they are at first, and at most. */
import type { ByteReader } from './byte-reader.ts'
import type { Limits } from './module.ts'
import { invalidModule, unsupportedFeature } from './module-error.ts'

/**
 * Reads the limits of a memory or a table.
 *
 * @throws `invalid_module` with an offset; `unsupported_feature` with the feature's name.
 */
export function readLimits(r: ByteReader, of: 'memory' | 'table'): Limits {
  const offset = r.offset
  const flags = r.byte()
  if ((flags & 0x08) !== 0) throw unsupportedFeature('custom page sizes', offset)
  if (flags > 7) throw invalidModule(`Unknown limits of a ${of}`, offset)
  if ((flags & 2) !== 0 && of === 'table') throw unsupportedFeature('shared-everything threads', offset)
  const index64 = (flags & 4) !== 0
  const min = index64 ? r.u64() : r.u32()
  if (min > Number.MAX_SAFE_INTEGER) throw invalidModule(`The minimum of a ${of} is too large`, offset)
  const shared = (flags & 2) !== 0
  if ((flags & 1) === 0) return { min, index64, shared }
  const max = index64 ? r.u64() : r.u32()
  if (max < min) throw invalidModule(`The maximum of a ${of} is below its minimum`, offset)
  // Nothing can grow that far: such a maximum is none.
  return max > Number.MAX_SAFE_INTEGER ? { min, index64, shared } : { min, max, index64, shared }
}
