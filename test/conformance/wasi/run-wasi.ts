/**
 * Programs of wasi-testsuite with the WASI host of this repository, and, for comparison, with the library below it as it
 * comes.
 *
 * A program passes when it ends with the exit code and the output that its description says. Time is logical: a program
 * that sleeps finds the time gone.
 */
import { ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim'
import { createWasiMemoryTree } from '../../../host-bindings/wasi/files/memory-tree.ts'
import { openWasiHost } from '../../../host-bindings/wasi/wasi-host.ts'
import { testClock, testRandom, testWorld } from '../../../host-bindings/wasi/wasi-world.testkit.ts'
import { asError } from '../../../src/base/errors.ts'
import type { WasiProgram } from './wasi-programs.ts'

export interface WasiVerdict {
  readonly program: WasiProgram
  readonly passed: boolean
  /** Whether something other than a trap of the guest came out of it. */
  readonly threw: boolean
  readonly why: string
}

/** Runs it with the host of this repository. */
export async function runProgram(program: WasiProgram): Promise<WasiVerdict> {
  const clock = testClock()
  const { files } = program
  const tree = createWasiMemoryTree({
    ...(files === undefined ? {} : { files }),
    nowNs: () => clock.wallNs(),
  })
  const host = openWasiHost(
    testWorld({
      args: program.args,
      env: program.env,
      directories: files === undefined ? [] : [{ guestPath: '/', tree, writable: true }],
      clock,
      random: testRandom(),
    }),
    {
      wait: ({ untilNs = 0n }) => {
        clock.moveTo(untilNs)
        return 'ready'
      },
      halt: () => {},
    },
  )
  return judge(
    program,
    async () => {
      const { instance, start } = await instantiate(program, host.preview1())
      host.attach(instance.exports.memory as WebAssembly.Memory)
      start()
    },
    () => ({
      exitCode: host.end?.kind === 'exit' ? host.end.code : undefined,
      stdout: new TextDecoder().decode(host.stdout.bytes),
      stderr: new TextDecoder().decode(host.stderr.bytes),
    }),
  )
}

/** Runs it with the library as it comes, for comparison. */
export async function runPlain(program: WasiProgram): Promise<WasiVerdict> {
  const out = { stdout: '', stderr: '' }
  const write = (name: 'stdout' | 'stderr') =>
    new ConsoleStdout((bytes) => {
      out[name] += new TextDecoder().decode(bytes)
    })
  const root = program.files === undefined ? [] : [new PreopenDirectory('/', plainFiles(program.files))]
  const wasi = new WASI(
    [...program.args],
    Object.entries(program.env).map(([name, value]) => `${name}=${value}`),
    [new OpenFile(new File([])), write('stdout'), write('stderr'), ...root],
    { debug: false },
  )
  let exitCode: number | undefined
  return judge(
    program,
    async () => {
      const { instance } = await instantiate(program, wasi.wasiImport)
      exitCode = wasi.start(instance as never)
    },
    () => ({ exitCode, ...out }),
  )
}

function plainFiles(files: Readonly<Record<string, Uint8Array>>): Map<string, File | Directory> {
  const root = new Map<string, File | Directory>()
  for (const [path, bytes] of Object.entries(files)) {
    const names = path.split('/')
    const last = names.pop() ?? ''
    let at = root
    for (const name of names) {
      const found = at.get(name)
      const directory = found instanceof Directory ? found : new Directory(new Map())
      at.set(name, directory)
      at = directory.contents as Map<string, File | Directory>
    }
    at.set(last, new File(bytes.slice()))
  }
  return root
}

async function instantiate(
  program: WasiProgram,
  imports: object,
): Promise<{ instance: WebAssembly.Instance; start: () => void }> {
  const module = await WebAssembly.compile(program.module as BufferSource)
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: imports as never })
  return { instance, start: instance.exports._start as () => void }
}

interface Ending {
  /** Undefined where it returned, or trapped, without saying one. */
  readonly exitCode: number | undefined
  readonly stdout: string
  readonly stderr: string
}

async function judge(
  program: WasiProgram,
  run: () => Promise<void>,
  ending: () => Ending,
): Promise<WasiVerdict> {
  let trap: unknown
  try {
    await run()
  } catch (error) {
    trap = error
  }
  const { exitCode, stdout, stderr } = ending()
  const isTrap = trap instanceof WebAssembly.RuntimeError
  const code = exitCode ?? (trap === undefined ? 0 : undefined)
  const isRight = code === program.exitCode && (program.stdout === undefined || program.stdout === stdout)
  const threw = trap !== undefined && !isTrap
  const said = stderr.trim().split('\n').slice(0, 3).join(' ')
  const why = `ended with ${code ?? 'a trap'}, not ${program.exitCode}${trap === undefined || exitCode !== undefined ? '' : ` (${asError(trap).message})`}: ${said}`
  return { program, passed: isRight && !threw, threw, why: isRight && !threw ? '' : why }
}
