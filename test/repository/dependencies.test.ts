import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string> | undefined>

/** Names in the first column of the table below this heading of docs/dependencies.md. */
function reasonsUnder(heading: string): readonly string[] {
  const section = read('docs/dependencies.md').split(`## ${heading}`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(/^\| `([^`]+)` \| .{10,} \|$/gm)].map((match) => match[1] ?? '')
}

describe('docs/dependencies.md', () => {
  it.each([
    ['What users install', ['dependencies', 'peerDependencies', 'optionalDependencies']],
    ['What contributors install', ['devDependencies']],
  ])('gives a reason for each dependency and for nothing else: %s', (heading, fields) => {
    const declared = fields.flatMap((field) => Object.keys(manifest[field] ?? {}))
    expect([...reasonsUnder(heading)].sort()).toEqual([...new Set(declared)].sort())
  })
})

describe('package.json', () => {
  it('pins every version exactly', () => {
    for (const field of ['dependencies', 'devDependencies']) {
      for (const [name, version] of Object.entries(manifest[field] ?? {})) {
        expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
      }
    }
  })

  it('lets no dependency run a script at installation', () => {
    const lock = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { hasInstallScript?: boolean; optional?: boolean }>
    }
    const withScript = Object.entries(lock.packages).filter(
      ([path, entry]) => path !== '' && entry.hasInstallScript,
    )
    const names = new Set(withScript.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 13)))
    // macOS only, and optional: npm does not ask about it elsewhere.
    names.delete('fsevents')
    expect(manifest.allowScripts).toEqual(Object.fromEntries([...names].sort().map((name) => [name, false])))
  })
})
