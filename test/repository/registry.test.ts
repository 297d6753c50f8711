import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

/** Put together here, so that this file does not name them either. */
const WELL_KNOWN = [
  ['registry', 'npmjs', 'org'],
  ['registry', 'yarnpkg', 'com'],
  ['npm', 'pkg', 'github', 'com'],
].map((labels) => labels.join('.'))

function run(
  command: string,
  ...args: readonly string[]
): { readonly status: number | null; readonly stdout: string } {
  return spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', shell: process.platform === 'win32' })
}

it('no tracked file names the host of a package registry, so a clone installs from whichever is configured', () => {
  const { hostname } = new URL(run('npm', 'config', 'get', 'registry').stdout.trim())
  // A proxy on this machine has a name that means nothing elsewhere.
  const hosts = hostname.includes('.') ? [...WELL_KNOWN, hostname] : WELL_KNOWN
  const found = run('git', 'grep', '-lF', ...hosts.flatMap((host) => ['-e', host]))
  expect(found.stdout).toBe('')
  // 1 is "nothing found"; anything above is a search that did not take place.
  expect(found.status).toBe(1)
})

it.each(['package-lock.json', 'bench/thirdparty/package-lock.json'])(
  '%s has a digest for every package and no download address',
  (path) => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as {
      packages: Record<string, { integrity?: string; resolved?: string }>
    }
    for (const [name, entry] of Object.entries(packages)) {
      expect(entry.resolved, name).toBeUndefined()
      if (name !== '') expect(entry.integrity, name).toMatch(/^sha512-/)
    }
  },
)
