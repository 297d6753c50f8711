/** Real TypeScript: the files of this repository, and of packages that it has anyway. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { oxcJavascriptOf } from './oxc-javascript.testkit.ts'
import { programOf } from './same-program.testkit.ts'
import { transpileInHost } from './transpile-in-host.testkit.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Names of TypeScript files below a folder, without packages in it, sorted. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.d)\.[mc]?ts$/.test(name) && !/(?:^|[\\/])node_modules[\\/]/.test(name))
    .map((name) => `${folder}/${name}`)
    .sort()
}

/** `same`, `refused`, or how a file came out otherwise than by oxc. */
function compareFile(name: string): string {
  const source = readFileSync(join(ROOT, name), 'utf8')
  const ours = transpileInHost(source)
  if ('message' in ours) return /is not supported|of CommonJS/.test(ours.message) ? 'refused' : ours.message
  const others = oxcJavascriptOf(source)
  if (ours.code.split('\n').length !== source.split('\n').length) return 'other lines'
  return JSON.stringify(programOf(ours.code)) === JSON.stringify(programOf(others))
    ? 'same'
    : 'another program'
}

/** Files that came out otherwise, and how many came out the same. */
export function compareFiles(names: readonly string[]): {
  readonly same: number
  readonly others: readonly string[]
} {
  const results = names.map((name) => [name, compareFile(name)] as const)
  return {
    same: results.filter(([, result]) => result === 'same').length,
    others: results.filter(([, result]) => result !== 'same').map(([name, result]) => `${name}: ${result}`),
  }
}
