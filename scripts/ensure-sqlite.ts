/**
 * Sees to it that better-sqlite3 can be loaded: its native part is not in the npm package.
 *
 * Install scripts do not run here, so its own runs when something needs it: it fetches a binary that fits, or compiles
 * one, which takes a C++ compiler. Run by the tests of the SQLite store before they begin.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { runCommand } from './run-command.ts'

const FOLDER: string = dirname(createRequire(import.meta.url).resolve('better-sqlite3/package.json'))
const LOAD = "new (require('better-sqlite3'))(':memory:').close()"
const FIVE_MINUTES_MS = 300_000
/** Optimised it takes three times as long to compile, for tests that spend a few seconds in it. No bench measures it. */
const PLAIN = '-O0'

/** @throws Error when it neither loads nor can be made */
export async function ensureSqlite(): Promise<void> {
  if ((await failureOfLoading()) === undefined) return
  process.stderr.write('better-sqlite3 has no binary for this runtime yet: fetching or compiling it\n')
  const made = await runCommand('npm', ['run', 'install'], {
    cwd: FOLDER,
    env: { npm_config_jobs: 'max', CFLAGS: PLAIN, CXXFLAGS: PLAIN },
    timeoutMs: 3 * FIVE_MINUTES_MS,
  })
  const failure = await failureOfLoading()
  if (failure === undefined) return
  throw new Error(
    `better-sqlite3 cannot be used: ${failure}\nIts install script said:\n${made.output.slice(-4_000)}\nInstall a C++ compiler and Python, or let npm run its install script where its binaries can be fetched.`,
  )
}

/** In a process of its own: what failed to load once does not load later. */
async function failureOfLoading(): Promise<string | undefined> {
  const { code, output } = await runCommand(process.execPath, ['-e', LOAD], {
    cwd: join(FOLDER, '..', '..'),
    timeoutMs: FIVE_MINUTES_MS,
  })
  return code === 0 ? undefined : output.trim().split('\n').at(-1)
}
