/** yosys and pandoc as guests, from what their authors publish on npm. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Limits, RunModuleOptions, Runtime } from '../../src/entry/node.ts'

const HERE = import.meta.dirname
const PACKAGES = join(HERE, 'node_modules')

export interface Made {
  readonly text: string
  readonly fuel: number
}

/** Told how much of its preparation is done, from 0 to 1. */
type Progress = (done: number) => void

/** Installs both, 94 MB, where they are not. Without install scripts, which neither has. @throws Error where npm fails */
export function installPrograms(): void {
  if (existsSync(join(PACKAGES, '.package-lock.json'))) return
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--prefix', HERE], {
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new Error('npm could not install the programs: see above.')
}

const YOSYS = join(PACKAGES, '@yowasp/yosys/gen')

/** Synthesizes Verilog to gates. What it gives is how many there are of each, out of the file that it writes. */
export async function synthesize(
  runtime: Runtime,
  verilog: string,
  onProgress: Progress = () => {},
): Promise<Made> {
  const { filesystem } = (await import(pathToFileURL(join(YOSYS, 'resources-yosys.js')).href)) as {
    readonly filesystem: { readonly share: Readonly<Record<string, unknown>> }
  }
  // What it looks for beside itself; folders of these are for single families of chips.
  const share = Object.entries(filesystem.share).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return run(
    runtime,
    await readFile(join(YOSYS, 'yosys.core.wasm')),
    {
      name: 'yosys',
      onProgress,
      args: ['-q', '-p', 'read_verilog /in/design.v; synth -noabc; tee -q -o /out/stat.txt stat'],
      directories: {
        '/in': { files: { 'design.v': verilog } },
        '/share': { files: Object.fromEntries(share) },
        '/out': { files: {}, writable: true },
      },
    },
    '/out/stat.txt',
  )
}

/** Markdown to HTML. */
export async function convert(
  runtime: Runtime,
  markdown: string,
  onProgress: Progress = () => {},
): Promise<Made> {
  return run(runtime, await readFile(join(PACKAGES, 'pandoc-wasm/src/pandoc.wasm')), {
    name: 'pandoc',
    onProgress,
    args: ['-f', 'markdown', '-t', 'html'],
    // It makes a folder for temporary files where it works.
    directories: { '/': { files: {}, writable: true } },
    stdin: markdown,
  })
}

const LIMITS: Partial<Limits> = {
  fuel: 50_000_000_000,
  memoryBytes: 256 * 1024 * 1024,
  wallMs: 120_000,
}

/** @param path of the file that it makes; standard output where it is left out */
async function run(
  runtime: Runtime,
  wasm: Uint8Array,
  options: RunModuleOptions,
  path?: string,
): Promise<Made> {
  const outcome = await runtime.runModule(wasm, { ...options, limits: LIMITS })
  if (outcome.status !== 'completed') throw new Error(`${options.name} ended as ${outcome.status}.`)
  const { exitCode, stdout, stderr, files } = outcome.value
  const made = path === undefined ? stdout : files[path]
  if (exitCode !== 0 || made === undefined)
    throw new Error(`${options.name} exited with ${exitCode}: ${textOf(stderr)}`)
  return { text: textOf(made), fuel: outcome.usage.fuel }
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
