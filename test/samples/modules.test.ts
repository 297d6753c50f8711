/** Core modules and preview-1 programs among the samples, under browser_wasi_shim. */
import {
  ConsoleStdout,
  type Directory,
  File,
  OpenFile,
  PreopenDirectory,
  WASI,
} from '@bjorn3/browser_wasi_shim'
import { expect } from 'vitest'
import { describeSample } from './both-builds.ts'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** Files of the one directory, by name. */
  readonly files: ReadonlyMap<string, string>
}

interface Setting {
  readonly stdin?: string
  readonly env?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

function openWasi(args: readonly string[], { stdin = '', env = [], files = {} }: Setting) {
  const written = ['', '']
  const output = (at: 0 | 1): ConsoleStdout =>
    new ConsoleStdout((bytes) => {
      written[at] += new TextDecoder().decode(bytes)
    })
  const folder = new Map(Object.entries(files).map(([name, text]) => [name, new File(encode(text))]))
  const directory = new PreopenDirectory('/data', folder)
  const descriptors = [new OpenFile(new File(encode(stdin))), output(0), output(1), directory]
  const wasi = new WASI([...args], [...env], descriptors, { debug: false })
  const end = (code: number): Ended => ({
    code,
    stdout: written[0] ?? '',
    stderr: written[1] ?? '',
    files: new Map(
      [...(directory.dir as Directory).contents].map(([name, file]) => [
        name,
        new TextDecoder().decode((file as File).data),
      ]),
    ),
  })
  return { wasi, end }
}

async function runCommand(wasm: Uint8Array, args: readonly string[], setting: Setting = {}): Promise<Ended> {
  const { wasi, end } = openWasi(['guest', ...args], setting)
  const { instance } = await WebAssembly.instantiate(new Uint8Array(wasm), {
    wasi_snapshot_preview1: wasi.wasiImport,
  })
  return end(wasi.start(instance as Parameters<WASI['start']>[0]))
}

for (const name of ['command-c', 'command-rust'])
  await describeSample(name, {
    'gets arguments, environment and standard input': async (wasm) => {
      const words = (await runCommand(wasm, ['args', 'grün', ''])).stdout.split('\n')
      expect(words.filter((word) => word !== 'guest')).toEqual(['args', 'grün', '', ''])
      const environment = await runCommand(wasm, name === 'command-c' ? ['env'] : ['env', 'A'], {
        env: ['A=1'],
      })
      expect(environment.stdout).toMatch(/^(A=)?1\n$/)
      expect(await runCommand(wasm, ['upper'], { stdin: 'some text' })).toMatchObject({
        code: 0,
        stdout: 'SOME TEXT',
      })
      expect((await runCommand(wasm, ['upper'])).stdout).toBe('')
    },
    'reads and writes files': async (wasm) => {
      const { code, files } = await runCommand(wasm, ['copy', '/data/a', '/data/b'], { files: { a: 'A' } })
      expect([code, files.get('b')]).toEqual([0, 'A'])
      const missing = await runCommand(wasm, ['copy', '/data/none', '/data/b'])
      expect([missing.code, missing.stderr === '']).toEqual([1, false])
    },
    'sleeps, and ends with a code': async (wasm) => {
      // The standard library of Rust checks what `poll_oneoff` answers, and panics over what this shim does.
      const sleeping = runCommand(wasm, ['sleep', '5'])
      if (name === 'command-rust') await expect(sleeping).rejects.toThrow(WebAssembly.RuntimeError)
      else expect(Number((await sleeping).stdout)).toBeGreaterThanOrEqual(4)
      expect(await runCommand(wasm, ['exit', '7'])).toMatchObject({ code: 7, stdout: 'exiting with 7\n' })
      expect((await runCommand(wasm, ['nonsense'])).code).toBe(2)
    },
  })

await describeSample('command-c', {
  'lists and removes files, tells time and chance': async (wasm) => {
    const listed = await runCommand(wasm, ['list', '/data'], { files: { a: '', b: '' } })
    expect(listed.stdout.split('\n')).toEqual(expect.arrayContaining(['a', 'b']))
    const removed = await runCommand(wasm, ['remove', '/data/a'], { files: { a: '', b: '' } })
    expect([...removed.files.keys()]).toEqual(['b'])
    expect((await runCommand(wasm, ['time'])).stdout).toMatch(/^\d{10}\n$/)
    expect((await runCommand(wasm, ['random'])).stdout).toMatch(/^[\da-f]{16}\n$/)
  },
  'closes standard output twice, and is told so the second time': async (wasm) => {
    const { code, stdout, stderr } = await runCommand(wasm, ['close-twice'])
    expect([code, stdout]).toEqual([0, 'before\n'])
    expect(stderr).toMatch(/^first 0, second -1: Bad file descriptor/)
  },
  'traps where it is told so, or has no stack left': async (wasm) => {
    await expect(runCommand(wasm, ['abort'])).rejects.toThrow(WebAssembly.RuntimeError)
    await expect(runCommand(wasm, ['recurse'])).rejects.toThrow(WebAssembly.RuntimeError)
  },
})

await describeSample('reactor-c', {
  'is initialised once, and then called': async (wasm) => {
    const { wasi, end } = openWasi(['guest'], { env: ['GREETING=salut'] })
    const { instance } = await WebAssembly.instantiate(new Uint8Array(wasm), {
      wasi_snapshot_preview1: wasi.wasiImport,
    })
    wasi.initialize(instance as Parameters<WASI['initialize']>[0])
    const guest = instance.exports as unknown as {
      readonly memory: WebAssembly.Memory
      allocate(length: number): number
      count_words(text: number, length: number): number
      greet(name: number, length: number): void
      calls(): number
    }
    const hand = (text: string): readonly [number, number] => {
      const bytes = encode(text)
      const address = guest.allocate(bytes.length)
      new Uint8Array(guest.memory.buffer).set(bytes, address)
      return [address, bytes.length]
    }
    expect(guest.count_words(...hand(' one two\n\tthree '))).toBe(3)
    guest.greet(...hand('you'))
    expect(end(0).stdout).toBe('salut, you\n')
    expect(guest.calls()).toBe(2)
  },
})

await describeSample('start-wat', {
  'runs before any export is called': async (wasm) => {
    const called: string[] = []
    const note =
      (name: string) =>
      (...args: readonly unknown[]): number => {
        called.push(`${name} ${args[0]}`)
        return 0
      }
    const { instance } = await WebAssembly.instantiate(new Uint8Array(wasm), {
      wasi_snapshot_preview1: { path_open: note('path_open'), fd_write: note('fd_write') },
    })
    expect(called).toEqual(['path_open 3', 'fd_write 0'])
    expect((instance.exports.errno as () => number)()).toBe(0)
  },
})

await describeSample('module-as', {
  'counts, keeps a state, traps, and imports nothing': async (wasm) => {
    const module = await WebAssembly.compile(new Uint8Array(wasm))
    expect(WebAssembly.Module.imports(module)).toEqual([])
    const guest = new WebAssembly.Instance(module).exports as unknown as {
      add(a: number, b: number): number
      fibonacci(n: number): bigint
      accumulate(by: bigint): bigint
      primes(limit: number): number
      divide(a: number, b: number): number
    }
    expect([guest.add(2, 3), guest.fibonacci(90), guest.primes(10_000)]).toEqual([
      5,
      2_880_067_194_370_816_120n,
      1229,
    ])
    expect([guest.accumulate(2n), guest.accumulate(40n)]).toEqual([2n, 42n])
    expect(() => guest.divide(1, 0)).toThrow(WebAssembly.RuntimeError)
  },
})
