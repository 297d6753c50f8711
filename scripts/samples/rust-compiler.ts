/**
 * Rust by rustc, without cargo. Debian has the target: `apt-get install rustc libstd-rust-dev-wasm32 lld`. A rustc of
 * rustup that stands earlier in PATH may lack it, so the system's own is looked at first; `RUSTC_WASM` names another.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '../run-command.ts'
import { compileInFolder } from './compile-in-folder.ts'
import type { Compiler } from './compiler.ts'

const COMMANDS = process.env.RUSTC_WASM === undefined ? ['/usr/bin/rustc', 'rustc'] : [process.env.RUSTC_WASM]
/** The same target, under its name up to Rust 1.83 and since 1.78. */
const TARGETS = ['wasm32-wasip1', 'wasm32-wasi']

interface Rust {
  readonly command: string
  readonly target: string
  readonly version: string
}

/** The first rustc that has a standard library for the target. */
async function findRust(): Promise<Rust | undefined> {
  for (const command of COMMANDS) {
    const version = await runCommand(command, ['--version'])
    if (version.code !== 0) continue
    for (const target of TARGETS) {
      const { code, stdout } = await runCommand(command, ['--print', 'target-libdir', '--target', target])
      if (code === 0 && existsSync(join(stdout.trim())))
        return { command, target, version: version.stdout.trim() }
    }
  }
  return undefined
}

export const RUST_COMPILER: Compiler = {
  from: 'apt-get install rustc libstd-rust-dev-wasm32 lld',

  version: async () => (await findRust())?.version,

  async compile(sample) {
    const rust = await findRust()
    if (rust === undefined) throw new Error('There is no rustc with a standard library for WASI preview 1.')
    return compileInFolder(rust.command, sample.folder, (output) => [
      [
        '--edition=2021',
        `--target=${rust.target}`,
        '-Copt-level=z',
        '-Clto',
        '-Cpanic=abort',
        '-Cstrip=symbols',
        ...sample.sources,
        '-o',
        output,
      ],
    ])
  },
}
