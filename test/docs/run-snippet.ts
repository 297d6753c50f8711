/** Runs a documented snippet the way a reader would: as a program of its own, in a process of its own. */
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { ROOT } from './documented-pages.ts'

export interface Ran {
  readonly exitCode: number
  /** Lines of standard output. */
  readonly printed: readonly string[]
  readonly stderr: string
}

/** For machines that are busy with other tests; a snippet takes well under a second of its own. */
const TIMEOUT_MS = 60_000

/** Inside the repository, so that packages are found where a reader has them: in `node_modules`. */
const FOLDER = join(ROOT, '.cache/docs-snippets')

/** The sources as one library, bundled once for all snippets of this process: the page is tested with the code as it is. */
let library: Promise<Readonly<Record<string, string>>> | undefined

async function bundleLibrary(): Promise<Readonly<Record<string, string>>> {
  const entry = join(ROOT, 'src/entry/node.ts')
  const folder = join(FOLDER, `library-${process.pid}`)
  await build({
    entryPoints: { caisson: entry, bindings: join(ROOT, 'src/entry/bindings.node.ts') },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What both entries have in common is one thing, as in the package.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    // The sources find the engine beside themselves, and the bundle lies elsewhere.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(entry).href) },
    logLevel: 'silent',
  })
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return { caisson: join(folder, 'caisson.mjs'), 'caisson/bindings': join(folder, 'bindings.mjs') }
}

/** Compiles and runs TypeScript. */
export async function runTypeScript(name: string, code: string): Promise<Ran> {
  library ??= bundleLibrary()
  const packages = await library
  const file = join(FOLDER, `${name}.mjs`)
  mkdirSync(FOLDER, { recursive: true })
  const bundle = await build({
    stdin: { contents: code, loader: 'ts', resolveDir: ROOT, sourcefile: `${name}.ts` },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    plugins: [
      {
        name: 'library',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^caisson(\/bindings)?$/ }, ({ path }) => ({
            path: packages[path] ?? path,
            external: true,
          })),
      },
    ],
    logLevel: 'silent',
  })
  writeFileSync(file, bundle.outputFiles[0]?.text ?? '')
  try {
    return await run(process.execPath, [file], ROOT)
  } finally {
    rmSync(file)
  }
}

/** Runs one line of a shell. `path` stands before the system's own. */
export function runShell(line: string, folder: string, path: string): Promise<Ran> {
  return run('/bin/sh', ['-c', line], folder, { ...process.env, PATH: `${path}:${process.env.PATH}` })
}

function run(
  file: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(file, [...args], { cwd, env, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      // Killed by the timeout there is no code: an open handle would keep a reader's program alive too.
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ exitCode, printed: stdout.split('\n').slice(0, -1), stderr })
    })
  })
}
