import { describe, expect, it } from 'vitest'
import type { CompiledCore, PreparedComponent } from '../../component/prepare-component.ts'
import { type KeptComponent, PreparedComponents } from './prepared-components.ts'

const MEGABYTE = 1024 * 1024
/** An empty module, and a manifest of which its size is read alone. */
const MODULE = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0))

function sized(bytesOut: number): PreparedComponent {
  const manifest = { bytesOut } as CompiledCore['manifest']
  return {
    parsed: { root: { definitions: [] }, modules: [] },
    shape: { imports: [], exports: [] },
    cores: [{ module: MODULE, manifest }],
  }
}

const made = (digest: string, more: Partial<KeptComponent> = {}): KeptComponent => ({
  digest,
  how: '',
  memoryBytes: MEGABYTE,
  engine: `engine of ${digest}`,
  prepared: sized(1_000),
  ...more,
})
const wanted = (digest: string, how = '') => ({ digest, how, memoryBytes: MEGABYTE })

describe('prepared components', () => {
  it('are found by all that they depend on, and by nothing less (invariant 2)', () => {
    const kept = new PreparedComponents()
    const one = made('a', { how: 'key one' })
    kept.keep(one)
    expect(kept.knows('a')).toBe(true)
    expect(kept.find(wanted('a', 'key one'))).toBe(one.prepared)
    expect(kept.engineOf('a', 'key one')).toBe('engine of a')
    expect(kept.find(wanted('a', 'key two'))).toBeUndefined()
    expect(kept.engineOf('a', 'key two')).toBeUndefined()
    expect(kept.find({ ...wanted('a', 'key one'), memoryBytes: 2 * MEGABYTE })).toBeUndefined()
    expect(kept.knows('b')).toBe(false)
  })

  it('are bounded in number, and those used last stay (invariant 3)', () => {
    const kept = new PreparedComponents()
    for (let index = 0; index < 8; index += 1) kept.keep(made(`c${index}`))
    expect(kept.find(wanted('c0'))).toBeDefined()
    kept.keep(made('c8'))
    expect(kept.knows('c0')).toBe(true)
    expect(kept.knows('c1')).toBe(false)
    kept.keep(made('c8'))
    expect(kept.knows('c2')).toBe(true)
  })

  it('are bounded in bytes of code; one that is larger than that alone is kept (invariant 3)', () => {
    const kept = new PreparedComponents()
    kept.keep(made('a', { prepared: sized(60 * MEGABYTE) }))
    kept.keep(made('b', { prepared: sized(60 * MEGABYTE) }))
    expect([kept.knows('a'), kept.knows('b')]).toEqual([true, true])
    kept.keep(made('c', { prepared: sized(20 * MEGABYTE) }))
    expect([kept.knows('a'), kept.knows('b'), kept.knows('c')]).toEqual([false, true, true])
    kept.keep(made('d', { prepared: sized(400 * MEGABYTE) }))
    expect([kept.knows('b'), kept.knows('c'), kept.knows('d')]).toEqual([false, false, true])
  })
})
