/** Runs documented snippets the way a reader would: each as a program of its own. */
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

/** For machines that are busy with other tests; the snippets of a page take a few seconds. */
const TIMEOUT_MS = 120_000

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

/** Of this process alone: the pages may be tested twice at the same time. */
const fileFor = (name: string): string => join(FOLDER, `${name}-${process.pid}.mjs`)

/** A snippet in TypeScript; its name is that of a file. */
export interface TypeScriptSnippet {
  readonly name: string
  readonly code: string
}

/** Stands before what a snippet prints, and before why it failed: no snippet prints it. */
const BEGINS = '\u0001begins'
const FAILED = '\u0001failed'

/**
 * Compiles snippets and runs them one after the other in one process, each as a module of its own: a process for each
 * took most of the time. It has to end by itself behind the last one, as a reader's program has.
 * @returns what each printed; all of them have the exit code of the process, and what it wrote to stderr
 */
export async function runTypeScript(snippets: readonly TypeScriptSnippet[]): Promise<readonly Ran[]> {
  library ??= bundleLibrary()
  const packages = await library
  mkdirSync(FOLDER, { recursive: true })
  const files = await Promise.all(snippets.map((snippet) => compile(snippet, packages)))
  const main = fileFor(`${snippets[0]?.name}-and-more`)
  writeFileSync(
    main,
    files
      .map(
        (file) =>
          `console.log(${JSON.stringify(BEGINS)}); await import(${JSON.stringify(pathToFileURL(file).href)}).catch((error) => { process.exitCode = 1; console.log(${JSON.stringify(FAILED)}, error) })`,
      )
      .join('\n'),
  )
  try {
    const { exitCode, printed, stderr } = await run(process.execPath, [main], ROOT)
    const parts = printed.join('\n').split(`${BEGINS}\n`).slice(1)
    return snippets.map((_, i) => {
      const lines = (parts[i] ?? `${FAILED} it did not begin`).split('\n')
      if (lines.at(-1) === '') lines.pop()
      return { exitCode, printed: lines, stderr }
    })
  } finally {
    for (const file of [main, ...files]) rmSync(file)
  }
}

async function compile(
  { name, code }: TypeScriptSnippet,
  packages: Readonly<Record<string, string>>,
): Promise<string> {
  const file = fileFor(name)
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
  return file
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
