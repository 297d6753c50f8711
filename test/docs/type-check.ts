/** Checks the types of snippets as a reader's editor would, against the sources. */
import { join } from 'node:path'
import ts from 'typescript'
import { ROOT } from './documented-pages.ts'
import type { MarkdownSnippet } from './markdown-snippet.ts'

const ENTRIES = {
  caisson: 'node',
  'caisson/browser': 'browser',
  'caisson/edge': 'edge',
  'caisson/bindings': 'bindings.node',
}

/** Stands for what bundlers make of the import: a URL in a page, a module in an edge worker. */
const ENGINE_IMPORT =
  "declare module 'caisson/engine/v8.wasm' { const engine: string & WebAssembly.Module; export default engine }"

/** The complaints, each with page and line. */
export function typeErrors(snippets: readonly MarkdownSnippet[]): readonly string[] {
  const folder = join(ROOT, 'test/docs')
  const sources = new Map(snippets.map((snippet, i) => [join(folder, `snippet-${i}.ts`), snippet]))
  const ambient = join(folder, 'snippet-engine.d.ts')
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      ...config.compilerOptions,
      isolatedDeclarations: false,
      declaration: false,
      moduleDetection: 'force',
      paths: Object.fromEntries(
        Object.entries(ENTRIES).map(([name, entry]) => [name, [`./src/entry/${entry}.ts`]]),
      ),
    },
    ROOT,
  )
  const host = ts.createCompilerHost({ ...options, configFilePath: join(ROOT, 'tsconfig.json') })
  // No complaint of the compiler is about what comments say.
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone
  const textOf = (file: string): string | undefined =>
    file === ambient ? ENGINE_IMPORT : sources.get(file)?.code
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (file) => textOf(file) !== undefined || fileExists(file)
  host.readFile = (file) => textOf(file) ?? readFile(file)
  host.getSourceFile = (file, version, ...more) => {
    const text = textOf(file)
    return text === undefined
      ? getSourceFile(file, version, ...more)
      : ts.createSourceFile(file, text, version, true)
  }
  const program = ts.createProgram(
    [...sources.keys(), ambient],
    { ...options, configFilePath: join(ROOT, 'tsconfig.json') },
    host,
  )
  return [...sources].flatMap(([file, snippet]) => {
    const source = program.getSourceFile(file)
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText, start = 0 }) => {
        const line = source?.getLineAndCharacterOfPosition(start).line ?? 0
        const [page, first] = snippet.place.split(':')
        return `${page}:${Number(first) + line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
      },
    )
  })
}
