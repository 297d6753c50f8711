/** Runs a Python program in CPython compiled to WebAssembly, on a WASI host without clock, chance or files. */
import { ConsoleStdout, File, OpenFile, WASI } from '@bjorn3/browser_wasi_shim'

/** What a run printed and how it ended. */
export interface PythonResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** Instantiates the module with these imports. */
export type Instantiate = (imports: Record<string, Record<string, unknown>>) => WebAssembly.Instance

/** Runs `program` from standard input. */
export function runPython(instantiate: Instantiate, program: string): PythonResult {
  const printed = { stdout: '', stderr: '' }
  const decoder = new TextDecoder()
  const output = (name: 'stdout' | 'stderr') =>
    new ConsoleStdout((bytes) => {
      printed[name] += decoder.decode(bytes)
    })
  const input = new OpenFile(new File(new TextEncoder().encode(program)))
  const wasi = new WASI(
    ['python', '-'],
    ['PYTHONHASHSEED=0', 'PYTHONDONTWRITEBYTECODE=1'],
    [input, output('stdout'), output('stderr')],
    { debug: false },
  )
  let memory: WebAssembly.Memory | undefined
  const write = (at: number, value: bigint): number => {
    if (memory !== undefined) new DataView(memory.buffer).setBigUint64(at, value, true)
    return 0
  }
  const deterministic = {
    clock_time_get: (_clock: number, _precision: bigint, at: number) => write(at, 1_700_000_000_000_000_000n),
    random_get: (at: number, length: number) => {
      if (memory !== undefined) new Uint8Array(memory.buffer, at, length).fill(7)
      return 0
    },
  }
  const imports: Record<string, unknown> = { ...wasi.wasiImport, ...deterministic }
  const instance = instantiate({ wasi_snapshot_preview1: imports })
  memory = instance.exports.memory as WebAssembly.Memory
  const exitCode = wasi.start(instance as Parameters<WASI['start']>[0])
  return { ...printed, exitCode }
}
