import { describe, expect, it } from 'vitest'
import { PROBE_MEMORY_BYTES, probeAllocatorLayout } from './allocator-probe.ts'
import type { Engine } from './engine.ts'
import { EngineInstance } from './engine-instance.ts'
import { engine } from './isolate.testkit.ts'

const probe = (of: Engine): void =>
  probeAllocatorLayout(new EngineInstance(of, PROBE_MEMORY_BYTES / 65_536, () => 0))

describe('probeAllocatorLayout', () => {
  it('accepts the pinned engine', () => {
    expect(() => probe(engine)).not.toThrow()
  })

  it('refuses an engine that keeps the end of its heap elsewhere', () => {
    const heapEndAddress = engine.layout.heapEndAddress + 8
    expect(() => probe({ ...engine, layout: { ...engine.layout, heapEndAddress } })).toThrow(
      expect.objectContaining({ code: 'engine_mismatch' }),
    )
  })
})
