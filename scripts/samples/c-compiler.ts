/**
 * C by clang, with wasi-libc. Debian and Ubuntu have all of it: `apt-get install clang lld wasi-libc
 * libclang-rt-dev-wasm32`.
 *
 * What clang links is optimised by the package binaryen, in this process. Clang would start `wasm-opt` by itself where it
 * finds one in PATH, as below npm, and not elsewhere: other bytes, and each start of it takes seconds. It is not asked
 * where nothing is said about optimising, so objects are made and linked in steps of their own.
 *
 * Components have neither `main` nor start files, so that nothing of WASI is in them that they do not use; what of it is
 * used goes through the adapter. The stack stands first in memory, where an overflow traps instead of writing into data.
 */
import { existsSync } from 'node:fs'
import { runCommand } from '../run-command.ts'
import { compileInFolder } from './compile-in-folder.ts'
import type { Compiler } from './compiler.ts'
import { optimizeSize } from './optimize-size.ts'
import type { Sample } from './sample.ts'

/** Where Debian's wasi-libc is. Elsewhere `CC_WASM` may name a clang that has its own, such as that of wasi-sdk. */
const LIBC = '/usr/lib/wasm32-wasi/libc.a'

const TARGET = '--target=wasm32-wasi'
const COMPILING: readonly string[] = [TARGET, '-std=gnu11', '-Oz', '-Wall', '-Wextra', '-Werror', '-c']
const LINKING: readonly string[] = [TARGET, '-Wl,--strip-all', '-Wl,--stack-first', '-Wl,-z,stack-size=65536']

const BY_KIND: Readonly<Record<Sample['kind'], readonly string[]>> = {
  command: [],
  reactor: ['-mexec-model=reactor'],
  component: ['-nostartfiles', '-Wl,--no-entry'],
  module: ['-nostartfiles', '-Wl,--no-entry'],
}

const command = process.env.CC_WASM ?? 'clang'

export const C_COMPILER: Compiler = {
  from: 'apt-get install clang lld wasi-libc libclang-rt-dev-wasm32',

  async version() {
    if (process.env.CC_WASM === undefined && !existsSync(LIBC)) return undefined
    const { code, stdout } = await runCommand(command, ['--version'])
    return code === 0 ? stdout.split('\n', 1)[0] : undefined
  },

  async compile(sample) {
    const linked = await compileInFolder(command, sample.folder, (output) => {
      const objects = sample.sources.map((_, i) => `${output}.${i}.o`)
      return [
        ...sample.sources.map((source, i) => [...COMPILING, source, '-o', objects[i] as string]),
        [...LINKING, ...BY_KIND[sample.kind], ...objects, '-o', output],
      ]
    })
    return optimizeSize(linked)
  },
}
