/** The world `tool` in C, AssemblyScript and JavaScript: the host is asked in the middle of work. */
import { WASIShim } from '@bytecodealliance/preview2-shim/instantiation'
import { expect } from 'vitest'
import { describeSample } from './both-builds.ts'
import { type Exports, refusalOf, transpile } from './transpiled.ts'

type Answer = (name: string, args: string) => string

async function open(wasm: Uint8Array, answer: Answer): Promise<Exports> {
  const component = await transpile(wasm, 'tool')
  return component.instantiate({ ...closedWasi(component.imports), 'host-call': { default: answer } })
}

/** WASI with nothing in it, for guests that import it. */
function closedWasi(imports: readonly string[]): Record<string, unknown> {
  if (!imports.some((name) => name.startsWith('wasi:'))) return {}
  const sandbox = { preopens: {}, env: {}, args: [], enableNetwork: false }
  return new WASIShim({ sandbox }).getImportObject() as Record<string, unknown>
}

for (const name of ['tool-c', 'tool-as', 'tool-js'])
  await describeSample(name, {
    'asks for each line, and joins the answers': async (wasm) => {
      const asked: string[] = []
      const guest = await open(wasm, (capability, args) => {
        asked.push(`${capability} ${args}`)
        return args.toUpperCase()
      })
      expect(guest.run('grün\n\n😀')).toBe('{"LINE":"GRÜN"}\n{"LINE":""}\n{"LINE":"😀"}')
      expect(asked).toEqual(['echo {"line":"grün"}', 'echo {"line":""}', 'echo {"line":"😀"}'])
    },
    'keeps state from call to call, of calls that were completed': async (wasm) => {
      const guest = await open(wasm, (_name, args) => {
        if (args.includes('no')) throw 'not granted'
        return 'é'
      })
      expect([...guest.totals()]).toEqual([0, 0])
      guest.run('a\nb')
      expect(refusalOf(() => guest.run('a\nno\nb'))).toBe('not granted')
      guest.run('c')
      expect([...guest.totals()]).toEqual([2, 5 + 2])
    },
    'imports its one function, and WASI only where it says so': async (wasm) => {
      const { imports } = await transpile(wasm, 'tool')
      expect(imports.filter((imported) => !imported.startsWith('wasi:'))).toEqual(['host-call'])
      expect(imports.length > 1).toBe(name === 'tool-js')
    },
  })
