/**
 * Modules that binaryen's fuzzer makes from random bytes (`wasm-opt -ttf`), numbered by seed.
 *
 * They come from a generator that knows nothing of metering. `--denan` turns every NaN into 0 at once, because
 * WebAssembly leaves the bits of a NaN open and engines differ in them. Made modules are kept in `.cache`; nothing
 * depends on the cache but time.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeededRandom } from '../../seeded-random.ts'
import { openWasmOpt, type WasmOpt } from './wasm-opt.ts'

/** Feature sets of the corpus. */
export type FuzzFlavour = 'engine' | 'exceptions'

const FEATURES = [
  ...['--enable-bulk-memory', '--enable-bulk-memory-opt', '--enable-reference-types', '--enable-tail-call'],
  ...['--enable-sign-ext', '--enable-nontrapping-float-to-int', '--enable-multivalue'],
  ...['--enable-mutable-globals', '--enable-simd'],
]

const FLAGS: Readonly<Record<FuzzFlavour, readonly string[]>> = {
  engine: FEATURES,
  exceptions: [...FEATURES, '--enable-exception-handling'],
}

const CACHE = join(import.meta.dirname, '../../../.cache/metering-corpus')

/** Makes or reads modules of one flavour. Disposing it removes its temporary folder. */
export interface FuzzCorpus extends Disposable {
  readonly module: (seed: number) => Promise<Uint8Array<ArrayBuffer>>
}

/** Opens the corpus. Inputs have 4 to 20 KB of random bytes; a module gets 2 to 15 KB. */
export function openFuzzCorpus(flavour: FuzzFlavour): FuzzCorpus {
  const temporary = mkdtempSync(join(tmpdir(), 'metering-corpus-'))
  let wasmOpt: WasmOpt | undefined
  const key = createHash('sha256')
    .update(JSON.stringify(['132', FLAGS[flavour]]))
    .digest('hex')
    .slice(0, 12)
  const folder = join(CACHE, `${flavour}-${key}`)
  mkdirSync(folder, { recursive: true })

  const make = async (seed: number, path: string): Promise<void> => {
    wasmOpt ??= openWasmOpt()
    const random = new SeededRandom(seed)
    const [input, output] = [join(temporary, 'in'), join(temporary, 'out.wasm')]
    writeFileSync(input, random.bytes(4_000 + random.below(16_000)))
    const printed = await wasmOpt([input, '-ttf', '--denan', '-q', '-o', output, ...FLAGS[flavour]])
    if (printed.length > 0) throw new Error(printed.join('\n'))
    const made = `${path}.${process.pid}`
    writeFileSync(made, readFileSync(output))
    renameSync(made, path)
  }
  return {
    module: async (seed) => {
      const path = join(folder, `${seed}.wasm`)
      if (!existsSync(path)) await make(seed, path)
      return new Uint8Array(readFileSync(path))
    },
    [Symbol.dispose]: () => rmSync(temporary, { recursive: true, force: true }),
  }
}
