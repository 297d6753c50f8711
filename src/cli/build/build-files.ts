/** Writes a prepared component into a folder: the manifest last, so that a folder with one is whole. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { BINARYEN_VERSION, loadBinaryenAsyncify } from '../../../host-bindings/asyncify/binaryen-asyncify.ts'
import { CaissonError } from '../../base/errors.ts'
import { prepareCore } from '../../component/core/prepare-core.ts'
import { buildComponent } from '../../component/prebuilt.ts'
import { awaitedImportsOf, type WaitOptions } from '../../component/prepare-component.ts'
import { waitOptions } from '../../component/wait-options.ts'
import { witPlaceOf } from '../../component/wit-names.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { readFileBytes } from '../modules/read-module-input.ts'
import { jsonText } from '../render/json-text.ts'
import { parseSize, showSize } from '../units/parse-size.ts'

const PAGE = 65_536
const DEFAULT_MEMORY = 64 * 1024 * 1024
const MANIFEST = 'component.json'

export async function buildFiles(given: GivenFlags, io: CliIo): Promise<number> {
  const [file = ''] = given.positionals
  const out = given.value('out')
  if (out === undefined) throw usage('Where to? Name a folder with --out DIR.')
  const memory = given.value('memory')
  const memoryBytes = memory === undefined ? DEFAULT_MEMORY : parseSize('memory', memory)
  if (memoryBytes < PAGE)
    throw usage(`--memory has to be at least 64KiB, one page of WebAssembly, not ${memory}.`)
  const bytes = await readFileBytes(file, 'file', io)
  const maxMemoryPages = Math.floor(memoryBytes / PAGE)
  const { manifest, files } = await build(bytes, maxMemoryPages, given.values('suspend'))
  const folder = resolve(io.cwd, out)
  try {
    await mkdir(folder, { recursive: true })
    for (const [name, wasm] of files) await writeFile(join(folder, name), wasm)
    await writeFile(join(folder, MANIFEST), `${JSON.stringify(manifest)}\n`)
  } catch (cause) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `The folder "${out}" cannot be written.`,
      cause,
    })
  }
  const written = [...files].map(([name, wasm]) => ({ file: name, bytes: wasm.length }))
  const total = written.reduce((sum, one) => sum + one.bytes, 0)
  io.stdout.write(
    given.has('json')
      ? `${jsonText({ status: 'built', out, digest: manifest.digest, files: [...written, { file: MANIFEST }] })}\n`
      : `${written.length} core ${written.length === 1 ? 'module' : 'modules'} (${showSize(total)}) and ${MANIFEST} in ${out}\n`,
  )
  return EXIT.done
}

async function build(
  bytes: Uint8Array,
  maxMemoryPages: number,
  names: readonly string[],
): ReturnType<typeof buildComponent> {
  try {
    const waits = names.length === 0 ? undefined : await waitsFor(bytes, names)
    // Where it will run is not known, and both profiles count alike: this one is good everywhere.
    const options = { profile: 'portable', maxMemoryPages, waits } as const
    return await buildComponent(bytes, options, () => performance.now())
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    throw new CliError({ exit: EXIT.refusedInput, code: error.code, message: error.message, cause: error })
  }
}

async function waitsFor(bytes: Uint8Array, names: readonly string[]): Promise<WaitOptions> {
  const prepare: WaitOptions['prepare'] = async (core, how) =>
    prepareCore(core, { ...how, asyncify: await loadBinaryenAsyncify() })
  for (const name of names) {
    if ((await awaitedImportsOf(bytes, waitOptions([name], BINARYEN_VERSION, prepare))).length > 0) continue
    const { interface: from, func } = witPlaceOf(name)
    throw usage(
      `The component imports no capability "${name}" that it could wait for: that would be ${func} of ${from}, or HTTP of WASI for net.fetch.`,
    )
  }
  return waitOptions(names, BINARYEN_VERSION, prepare)
}

function usage(message: string): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint: 'caisson build --help' })
}
