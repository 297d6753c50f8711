/** The plan of the report, whole: its document, with the texts of the programs that it names. */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { type DefinedPlan, definePlan, embedSources, type Plan, parsePlan } from '../../src/entry/node.ts'

const FOLDER = new URL('./', import.meta.url)
const IMPORTED = /^import [^;]*? from '\.\/([\w-]+\.ts)'$/gmu

export async function readPlan(): Promise<DefinedPlan> {
  const text = await readFile(new URL('report.plan.yaml', FOLDER), 'utf8')
  const { plan } = await parsePlan(text)
  return definePlan(await embedSources(plan as Plan, ({ file }) => readProgram(file)))
}

/** A program, and everything that it imports, directly or not: TypeScript, which nobody compiles before. */
async function readProgram(
  file: string,
): Promise<{ source: string; language: 'ts'; modules: Record<string, string> }> {
  const read = (name: string): Promise<string> => readFile(new URL(`program/${name}`, FOLDER), 'utf8')
  const main = basename(file)
  const source = await read(main)
  const texts = new Map<string, string>([[main, source]])
  for (const text of texts.values()) {
    for (const [, name = ''] of text.matchAll(IMPORTED))
      if (!texts.has(name)) texts.set(name, await read(name))
  }
  texts.delete(main)
  return {
    source,
    language: 'ts',
    modules: Object.fromEntries([...texts].map(([name, text]) => [`./${name}`, text])),
  }
}
