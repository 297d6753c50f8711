/** Properties of copying, over graphs of every kind. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { arbitraryValue, type NodeKind } from './arbitrary-value.testkit.ts'
import { copyMeasured, copyValue, measureValue } from './copy-value.ts'
import { differenceOf } from './difference-of.testkit.ts'

const WITHOUT_VIEWS: readonly NodeKind[] = [
  'object',
  'array',
  'map',
  'set',
  'date',
  'regexp',
  'boxed',
  'buffer',
]

it('copies what structuredClone copies', () => {
  fc.assert(
    fc.property(arbitraryValue({ kinds: WITHOUT_VIEWS }), (value) => {
      expect(differenceOf(copyValue(value), structuredClone(value))).toBeUndefined()
    }),
    { numRuns: 400 },
  )
})

it('copies every value, as measured, and a copy copies to the same', () => {
  fc.assert(
    fc.property(arbitraryValue(), (value) => {
      const { value: copy, bytes, nodes } = copyMeasured(value)
      expect(measureValue(value)).toEqual({ bytes, nodes })
      const again = copyMeasured(copy)
      expect(again).toMatchObject({ bytes, nodes })
      expect(differenceOf(copy, again.value)).toBeUndefined()
    }),
    { numRuns: 400 },
  )
})

it('keeps the bytes of views, and their offsets where the buffer travels too', () => {
  fc.assert(
    fc.property(arbitraryValue({ kinds: ['object', 'array', 'buffer', 'view'] }), (value) => {
      const shown = (root: unknown): string[] => {
        const seen = new Set<unknown>()
        const found: string[] = []
        const visit = (at: unknown): void => {
          if (typeof at !== 'object' || at === null || seen.has(at)) return
          seen.add(at)
          if (ArrayBuffer.isView(at)) {
            const bytes = new Uint8Array(at.buffer, at.byteOffset, at.byteLength)
            found.push(`${at.constructor.name} ${bytes}`)
          } else for (const key of Object.keys(at)) visit((at as Record<string, unknown>)[key])
        }
        visit(root)
        return found
      }
      expect(shown(copyValue(value))).toEqual(shown(value))
    }),
  )
})

it('stays within its limits, whatever they are', () => {
  fc.assert(
    fc.property(arbitraryValue(), fc.nat(200), fc.nat(20), fc.nat(5), (value, bytes, nodes, depth) => {
      try {
        const size = copyMeasured(value, { bytes, nodes, depth })
        expect(size.bytes).toBeLessThanOrEqual(bytes)
        expect(size.nodes).toBeLessThanOrEqual(nodes)
      } catch (error) {
        expect((error as { code?: string }).code).toMatch(/^value_too_(large|deep)$/)
      }
    }),
  )
})
