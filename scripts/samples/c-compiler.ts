/**
 * C by clang, with wasi-libc. Debian and Ubuntu have all of it: `apt-get install clang lld wasi-libc
 * libclang-rt-dev-wasm32`.
 *
 * Components have neither `main` nor start files, so that nothing of WASI is in them that they do not use; what of it is
 * used goes through the adapter. The stack stands first in memory, where an overflow traps instead of writing into data.
 */
import { existsSync } from 'node:fs'
import { runCommand } from '../run-command.ts'
import { compileInFolder } from './compile-in-folder.ts'
import type { Compiler } from './compiler.ts'
import type { Sample } from './sample.ts'

/** Where Debian's wasi-libc is. Elsewhere `CC_WASM` may name a clang that has its own, such as that of wasi-sdk. */
const LIBC = '/usr/lib/wasm32-wasi/libc.a'

const COMMON = [
  '--target=wasm32-wasi',
  '-std=gnu11',
  '-Oz',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-Wl,--strip-all',
  '-Wl,--stack-first',
  '-Wl,-z,stack-size=65536',
]

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

  compile: (sample) =>
    compileInFolder(command, sample.folder, (output) => [
      ...COMMON,
      ...BY_KIND[sample.kind],
      ...sample.sources,
      '-o',
      output,
    ]),
}
