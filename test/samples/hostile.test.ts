/** The world `hostile` under plain jco output: which attacks end by themselves, and how. The rest need a limit of ours. */
import { expect } from 'vitest'
import { describeSample } from './both-builds.ts'
import { type Exports, refusalOf, transpile } from './transpiled.ts'

const echo = { 'host-call': { default: (_name: string, text: string) => text } }
const open = async (wasm: Uint8Array): Promise<Exports> =>
  (await transpile(wasm, 'hostile')).instantiate(echo)

/** Ends with an error of the engine or of the glue, and not with what the guest says. */
function expectTrap(guest: Exports, attack: string): void {
  const error = refusalOf(() => guest.run(attack, 'text'))
  expect(error, attack).toBeInstanceOf(Error)
}

for (const name of ['hostile-c', 'hostile-as'])
  await describeSample(name, {
    'does nothing where it is told so': async (wasm) => {
      expect((await open(wasm)).run('none', 'text ü')).toBe('text ü')
    },
    'traps, returns what lies outside of memory, and shapes that are none': async (wasm) => {
      for (const attack of ['trap', 'pointer', 'length', 'wrap', 'discriminant', 'unaligned', 'host-pointer'])
        expectTrap(await open(wasm), attack)
    },
    'returns what is allowed': async (wasm) => {
      const guest = await open(wasm)
      expect(guest.run('edge', '')).toBe('edge')
      expect(guest.run('large', '')).toBe('x'.repeat(1 << 20))
    },
    'has a cabi_realloc that traps, from the next call on or within this one': async (wasm) => {
      const guest = await open(wasm)
      expect(guest.run('realloc-trap', 'text')).toBe('text')
      expectTrap(guest, 'none')
      expectTrap(await open(wasm), 'host-realloc-trap')
      const beyond = await open(wasm)
      beyond.run('realloc-beyond', 'text')
      expectTrap(beyond, 'none')
    },
    'has no stack left where it calls itself without end': async (wasm) => {
      expectTrap(await open(wasm), 'recursion')
    },
  })

await describeSample('hostile-js', {
  'does what a program can do, and refuses the rest by name': async (wasm) => {
    const guest = await open(wasm)
    expect(guest.run('none', 'text ü')).toBe('text ü')
    expect(guest.run('large', '')).toBe('x'.repeat(1 << 20))
    expect(refusalOf(() => guest.run('pointer', ''))).toBe('not in JavaScript: pointer')
    for (const attack of ['trap', 'discriminant']) expectTrap(await open(wasm), attack)
  },
})
