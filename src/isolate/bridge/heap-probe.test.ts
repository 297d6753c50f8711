import { describe, expect, it } from 'vitest'
import { TestGuest } from './bridge.testkit.ts'
import { probeHeapLayout } from './heap-probe.ts'

describe('probeHeapLayout', () => {
  it('accepts the pinned engine', () => {
    const guest = new TestGuest()
    const probe = (): void =>
      probeHeapLayout({
        memory: guest.memory,
        runtimePointer: guest.runtime,
        evaluate: (source) => guest.cell(source),
      })
    expect(probe).not.toThrow()
  })

  it('names what moved when the engine is another one', () => {
    const guest = new TestGuest()
    // An engine whose atom table is elsewhere: the runtime seems to start four bytes later.
    const probe = (): void =>
      probeHeapLayout({
        memory: guest.memory,
        runtimePointer: guest.runtime + 4,
        evaluate: (source) => guest.cell(source),
      })
    expect(probe).toThrow(/heap layout does not fit this engine: JS/)
  })
})
