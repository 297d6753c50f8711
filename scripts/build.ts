/**
 * Builds what is out of date: first the engine, then the package.
 *
 *     npm run build               what changed since the last build
 *     npm run build -- --force    everything
 *
 * Runs before the tests and after `npm ci`, so it must cost nothing when nothing changed: each step
 * keeps the digest of its inputs in `.cache/build/`, and runs again when the digest or an output differs.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'

interface BuildStep {
  readonly name: string
  readonly script: string
  /** Files and folders that the result depends on. Tests inside them do not count. */
  readonly inputs: readonly string[]
  readonly output: string
}

const ROOT = join(import.meta.dirname, '..')

const STEPS: readonly BuildStep[] = [
  {
    name: 'engine',
    script: 'build:engine',
    inputs: [
      'scripts/build-engine.ts',
      'scripts/engine',
      'guest/prelude',
      'src/base',
      'src/values',
      'src/wasm',
      'src/isolate',
      'package-lock.json',
    ],
    output: 'engines',
  },
  {
    name: 'typescript',
    script: 'build:typescript',
    inputs: [
      'scripts/build-typescript.ts',
      'scripts/typescript',
      'guest/typescript',
      'src/isolate/typescript-manifest.ts',
      'package-lock.json',
    ],
    output: 'engines/typescript.js',
  },
  {
    name: 'package',
    script: 'build:package',
    inputs: [
      'src',
      'host-bindings',
      'guest/globals.d.ts',
      'engines',
      'tsdown.config.ts',
      'tsconfig.json',
      'scripts/package-entries.ts',
    ],
    output: 'dist',
  },
]

const force = process.argv.includes('--force')

for (const step of STEPS) {
  const stamp = join(ROOT, '.cache/build', step.name)
  const digest = digestOf(step.inputs)
  const fresh =
    existsSync(join(ROOT, step.output)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest
  if (fresh && !force) continue
  const { code, output, elapsedMs } = await runCommand('npm', ['run', '--silent', step.script], { cwd: ROOT })
  if (code !== 0) {
    process.stderr.write(`${output}\nbuild: ${step.name} failed\n`)
    process.exit(1)
  }
  process.stderr.write(`build: ${step.name} in ${(elapsedMs / 1000).toFixed(1)} s\n`)
  mkdirSync(join(ROOT, '.cache/build'), { recursive: true })
  writeFileSync(stamp, digest)
}

/** Digest over the names and bytes of all files below the paths; a missing path counts as missing. */
function digestOf(paths: readonly string[]): string {
  const hash = createHash('sha256').update(process.version)
  for (const path of paths) {
    for (const file of filesBelow(path)) {
      const bytes = readFileSync(join(ROOT, file))
      hash.update(`${file}\0${bytes.length}\0`).update(bytes)
    }
  }
  return hash.digest('hex')
}

function filesBelow(path: string): readonly string[] {
  const absolute = join(ROOT, path)
  if (!existsSync(absolute)) return []
  if (statSync(absolute).isFile()) return /\.(test|testkit|contract)\.ts$/.test(path) ? [] : [path]
  const entries = readdirSync(absolute).sort()
  return entries.flatMap((entry) => filesBelow(`${path}/${entry}`))
}
