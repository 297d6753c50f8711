/** Runs a component through plain jco output: what a sample does is compared there, without anything of ours. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import v8 from 'node:v8'
import { transpileBytes } from '@bytecodealliance/jco-transpile'

/** Exports of an instance: functions, and interfaces with functions. What they take and give is of their world. */
// biome-ignore lint/suspicious/noExplicitAny: types come from WIT, which TypeScript does not read
export type Exports = Record<string, any> // oxlint-disable-line typescript/no-explicit-any

export interface Transpiled {
  /** Names of the interfaces and functions that it imports, without versions. */
  readonly imports: readonly string[]
  instantiate(imports?: Readonly<Record<string, unknown>>): Promise<Exports>
}

type Instantiate = (
  getCoreModule: (path: string) => WebAssembly.Module,
  imports: Readonly<Record<string, unknown>>,
) => Promise<Exports>

/** @param component the bytes of a component */
export async function transpile(component: Uint8Array, name: string): Promise<Transpiled> {
  allowExtendedConst()
  const { files, imports } = await transpileBytes(component, {
    name,
    instantiation: 'async',
    wasiShim: false,
    emitTypescriptDeclarations: false,
  })
  const instantiate = await load(files[`${name}.js`] ?? new Uint8Array())
  const modules = new Map<string, WebAssembly.Module>()
  const getCoreModule = (path: string): WebAssembly.Module => {
    const module = modules.get(path) ?? new WebAssembly.Module(new Uint8Array(files[path] ?? []))
    modules.set(path, module)
    return module
  }
  return { imports, instantiate: (given = {}) => instantiate(getCoreModule, given) }
}

async function load(glue: Uint8Array): Promise<Instantiate> {
  const folder = mkdtempSync(join(tmpdir(), 'caisson-glue-'))
  try {
    const path = join(folder, 'glue.mjs')
    writeFileSync(path, glue)
    const loaded = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as { instantiate: Instantiate }
    return loaded.instantiate
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a guest gave as the error of a `result`: jco throws it as it is, or in an error of its own. */
export function refusalOf(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error instanceof Error && 'payload' in error ? error.payload : error
  }
  throw new Error('It was not refused.')
}

/** QuickJS components need it; Node 20 has it behind a flag, which later versions do not know. */
function allowExtendedConst(): void {
  if (process.version.startsWith('v20.')) v8.setFlagsFromString('--experimental-wasm-extended-const')
}
