/**
 * Builds `sqlite.wasm` of sqlite.c and the sources of SQLite, which the package better-sqlite3 brings:
 * `npx tsx examples/programs/build-sqlite.ts`. It needs `apt-get install clang lld wasi-libc libclang-rt-dev-wasm32`.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const HERE = import.meta.dirname
const { resolve } = createRequire(import.meta.url)
const SQLITE = join(dirname(resolve('better-sqlite3/package.json')), 'deps/sqlite3')

const TARGET = '--target=wasm32-wasi'
const COMPILING = [TARGET, '-std=gnu11', '-Oz', '-c', `-I${SQLITE}`]
/** What a guest of one thread can use: there are no libraries to load, and no memory is shared with other processes. */
const OPTIONS = [
  'THREADSAFE=0',
  'OMIT_LOAD_EXTENSION',
  'OMIT_WAL',
  'DQS=0',
  'TEMP_STORE=3',
  'DEFAULT_MEMSTATUS=0',
]
const EMULATED = ['-D_WASI_EMULATED_GETPID', '-D_WASI_EMULATED_MMAN']
const LINKING = [
  TARGET,
  '-Wl,--strip-all',
  '-Wl,--stack-first',
  '-Wl,-z,stack-size=262144',
  '-lwasi-emulated-getpid',
  '-lwasi-emulated-mman',
]

/** Without what npm puts there: clang would start a `wasm-opt` that it finds, and give other bytes. */
const PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !folder.includes('node_modules'))
  .join(':')

const clang = (...args: readonly string[]): void => {
  execFileSync('clang', args, { stdio: 'inherit', env: { ...process.env, PATH } })
}

const folder = mkdtempSync(join(tmpdir(), 'sqlite-'))
try {
  const [main, library] = [join(folder, 'main.o'), join(folder, 'sqlite3.o')]
  clang(...COMPILING, '-Wall', '-Wextra', '-Werror', join(HERE, 'sqlite.c'), '-o', main)
  const defines = OPTIONS.map((option) => `-DSQLITE_${option}`)
  clang(...COMPILING, ...defines, ...EMULATED, join(SQLITE, 'sqlite3.c'), '-o', library)
  clang(main, library, ...LINKING, '-o', join(HERE, 'sqlite.wasm'))
} finally {
  rmSync(folder, { recursive: true })
}
