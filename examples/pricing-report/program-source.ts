/** The program as texts: TypeScript in modules, which nobody compiles before the runtime gets them. */
import { readdir, readFile } from 'node:fs/promises'

export interface ProgramSource {
  /** Of its main module. */
  readonly source: string
  /** Where that stands, for `fileName`. */
  readonly fileName: string
  /** The others, by what they are imported as, for `modules`. */
  readonly modules: Readonly<Record<string, string>>
  /** Lines of them all. */
  readonly lines: number
}

const FOLDER = new URL('./program/', import.meta.url)
const MAIN = 'main.ts'

export async function readProgram(): Promise<ProgramSource> {
  const names = (await readdir(FOLDER))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .sort()
  const texts = new Map<string, string>()
  for (const name of names) texts.set(name, await readFile(new URL(name, FOLDER), 'utf8'))
  const lines = [...texts.values()].reduce((sum, text) => sum + text.trimEnd().split('\n').length, 0)
  const source = texts.get(MAIN) ?? ''
  texts.delete(MAIN)
  const modules = Object.fromEntries([...texts].map(([name, text]) => [`./${name}`, text]))
  return { source, fileName: MAIN, modules, lines }
}
