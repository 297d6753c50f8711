/** The declarations of the packed package, checked as strict consumers check them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  CONSUMER_PROJECTS,
  type ConsumerProject,
  consumerOptions,
  installPackage,
  writeProject,
} from './consumer-projects.ts'

const consumer = mkdtempSync(join(tmpdir(), 'caisson-consumer-'))
beforeAll(() => installPackage(consumer))
afterAll(() => rmSync(consumer, { recursive: true, force: true }))

describe('the declarations of the package', () => {
  it.each(Object.entries(CONSUMER_PROJECTS))(
    'serve %s',
    (name, project) => {
      const files = writeProject(join(consumer, name.replace(/\W+/g, '-')), project)
      expect(complaints(project, files)).toEqual([])
    },
    60_000,
  )
})

/** What the compiler says of the package and of the consumer. Libraries of others are not looked at: they are slow. */
function complaints(project: ConsumerProject, files: readonly string[]): readonly string[] {
  const { options, errors } = ts.convertCompilerOptionsFromJson(consumerOptions(project), consumer)
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (file, version, ...more) => {
    if (!isOthers(file)) return getSourceFile(file, version, ...more)
    const known = others.get(file) ?? getSourceFile(file, version, ...more)
    if (known !== undefined) others.set(file, known)
    return known
  }
  const program = ts.createProgram([...files], options, host)
  const ours = program.getSourceFiles().filter(({ fileName }) => !isOthers(fileName))
  const found = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...ours.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
  ]
  return found.map(
    ({ file, messageText }) =>
      `${file?.fileName.replace(consumer, '') ?? ''} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
  )
}

/** Parsed once for all consumers. */
const others = new Map<string, ts.SourceFile>()

function isOthers(file: string): boolean {
  return file.includes('/node_modules/') && !file.includes('/node_modules/caisson/')
}
