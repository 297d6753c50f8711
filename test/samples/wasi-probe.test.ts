/** The world `wasi-probe`: WASI 0.2 as a guest in C sees it through the adapter, here from the host of others. */
import { WASIShim } from '@bytecodealliance/preview2-shim/instantiation'
import { expect } from 'vitest'
import { describeSample } from './both-builds.ts'
import { refusalOf, transpile } from './transpiled.ts'

await describeSample('wasi-probe-c', {
  'imports WASI alone, and tells what it got of it': async (wasm) => {
    const component = await transpile(wasm, 'probe')
    expect(component.imports.filter((name) => !name.startsWith('wasi:'))).toEqual([])
    const sandbox = { preopens: {}, env: { GIVEN: 'yes' }, args: [], enableNetwork: false }
    const guest = await component.instantiate(
      new WASIShim({ sandbox }).getImportObject() as Record<string, unknown>,
    )
    expect(guest.run('env GIVEN')).toBe('yes')
    expect(refusalOf(() => guest.run('env OTHER'))).toBe('not set')
    expect(guest.run('time')).toMatch(/^\d{10}$/)
    expect(guest.run('random')).toMatch(/^[\da-f]{16}$/)
    expect(Number(guest.run('sleep 2'))).toBeGreaterThanOrEqual(2)
    expect(refusalOf(() => guest.run('read /etc/passwd'))).toBeTypeOf('string')
    expect(refusalOf(() => guest.run('nonsense'))).toBe('no such action')
  },
})
