import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PACKAGE_ENTRIES } from '../../scripts/package-entries.ts'

const ROOT = join(import.meta.dirname, '../..')
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Record<string, unknown>
  bin: Record<string, string>
}

/** Everything that may be published; the rest is a mistake. */
const ALLOWED = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  /^dist\/(src|host-bindings)\/([a-z0-9-]+\/)*[a-z0-9-]+(\.node)?\.(js|d\.ts)$/,
  /^dist\/engines\/[a-z0-9-]+\/(manifest\.json|guest\.(json|js)|(v8|portable)\.wasm)$/,
  /^dist\/engines\/typescript\.(js|d\.ts)$/,
  /^dist\/guest\/globals\.d\.ts$/,
]

/** What `npm pack` would put into the package. Built before the tests run. */
const packed: readonly string[] = (() => {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [report] = JSON.parse(output) as [{ files: { path: string }[] }]
  return report.files.map(({ path }) => path)
})()

/** Paths that `exports` and `bin` name, conditions flattened. */
function named(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value.replace(/^\.\//, '')]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(named) : []
}
const targets = [...new Set([...named(manifest.exports), ...named(manifest.bin)])]

describe('the published package', () => {
  it('holds nothing but modules, declarations, engines and the documents about them', () => {
    expect(packed.filter((path) => !ALLOWED.some((pattern) => pattern.test(path)))).toEqual([])
    expect(packed.filter((path) => /\.(test|testkit|contract)\./.test(path))).toEqual([])
  })

  it('holds every file that its exports and its command name', () => {
    const missing = targets.filter((path) => !path.includes('*') && !packed.includes(path))
    expect(missing).toEqual([])
    expect(packed).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md']))
  })

  it('holds one engine in both profiles, with its manifest', () => {
    const engine = ['manifest.json', 'portable.wasm', 'v8.wasm'].map((file) => `dist/engines/current/${file}`)
    expect(packed).toEqual(expect.arrayContaining(engine))
  })

  it('exports exactly the modules that the build starts from', () => {
    const modules = targets.filter((path) => path.endsWith('.js')).sort()
    const entries = PACKAGE_ENTRIES.map((path) => `dist/${path.replace(/\.ts$/, '.js')}`).sort()
    expect(modules).toEqual(entries)
  })
})
