/** Brings the command of an npm package, such as another runtime, into `.cache/runtimes`. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CACHE: string = fileURLToPath(new URL('../../.cache/runtimes', import.meta.url))

/** Installs a package once, e.g. `node@24`, and returns the path of its command. */
export function bringCommand(spec: string, command: string): string {
  const folder = join(CACHE, spec.replace(/\W+/g, '-'))
  const path = join(folder, 'node_modules/.bin', command)
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true })
    // Runtimes fetch or link their binary in an install script; only here is that allowed.
    const manifest = { private: true, allowScripts: { [spec.split('@')[0] ?? spec]: true } }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    execFileSync('npm', ['install', '--no-audit', '--no-fund', spec], { cwd: folder, stdio: 'pipe' })
  }
  return path
}
