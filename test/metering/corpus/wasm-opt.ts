/**
 * Binaryen's `wasm-opt` run many times inside this process.
 *
 * The npm package ships the tool as one script with the WebAssembly code inside it. Starting it as a process
 * costs 650 ms, nearly all of it for compiling 9 MB of WebAssembly; here that is compiled once and each run gets
 * an instance of its own, which brings a run to 15 to 40 ms.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { compileFunction } from 'node:vm'

/** Runs the tool with these arguments; gives what it printed. Files are real files. */
export type WasmOpt = (args: readonly string[]) => Promise<readonly string[]>

type ToolScript = (
  tool: Record<string, unknown>,
  require: NodeJS.Require,
  process: unknown,
  filename: string,
  directory: string,
) => void

/** What the script needs to hand out so that the compiled module can be kept. */
const READS_BINARY = 'var instantiateWasm=Module["instantiateWasm"];'

/** Loads the tool. */
export function openWasmOpt(): WasmOpt {
  const require = createRequire(import.meta.url)
  const path = require.resolve('binaryen/bin/wasm-opt')
  const source = readFileSync(path, 'utf8').replace(/^#!.*/, '')
  if (!source.includes(READS_BINARY)) throw new Error('this version of wasm-opt is built otherwise')
  const patched = source.replace(READS_BINARY, `Module["readBinary"]=findWasmBinary;${READS_BINARY}`)
  const script = compileFunction(patched, ['Module', 'require', 'process', '__filename', '__dirname'], {
    filename: path,
  }) as ToolScript
  let compiled: Promise<WebAssembly.Module> | undefined

  return (args) =>
    new Promise((resolve, reject) => {
      const printed: string[] = []
      const tool: Record<string, unknown> = {
        arguments: [...args],
        print: (line: string) => printed.push(line),
        printErr: (line: string) => printed.push(line),
        onAbort: (reason: unknown) => reject(new Error(`wasm-opt aborted: ${String(reason)}`)),
        postRun: () => resolve(printed),
        instantiateWasm: (imports: WebAssembly.Imports, ready: (instance: WebAssembly.Instance) => void) => {
          compiled ??= WebAssembly.compile((tool.readBinary as () => Uint8Array<ArrayBuffer>)())
          compiled
            .then((module) => WebAssembly.instantiate(module, imports))
            .then(ready)
            .catch(reject)
          return {}
        },
      }
      const quiet = { ...process, argv: ['node', 'wasm-opt', ...args], on: () => undefined }
      script(tool, require, quiet, path, dirname(path))
    })
}
