/**
 * Projects that use the packed package, as strict as TypeScript allows: without `skipLibCheck`, and without naming a
 * library for our sake (DOM on Node, disposal anywhere).
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

export interface ConsumerProject {
  /** Compiler options beside those that all have. */
  readonly options: object
  /** The program, and what its bundler declares. */
  readonly files: Readonly<Record<string, string>>
}

const PROGRAM = `
export const double = capability({
  name: 'tools.double',
  description: 'Doubles',
  effect: 'read',
  invoke: (value) => Number(value) * 2,
})
export async function answer(): Promise<unknown> {
  await using runtime = await openRuntime({ capabilities: [double] })
  const outcome = await runtime.run('return tools.double(21)', { grants: ['tools.double'] })
  return outcome.status === 'completed' ? outcome.value : outcome.status
}
`

export const CONSUMER_PROJECTS: Readonly<Record<string, ConsumerProject>> = {
  'Node, without the DOM': {
    options: { module: 'nodenext', target: 'es2022', lib: ['es2022'], types: ['node'] },
    files: {
      'main.ts': `
        import { capability, openRuntime, type EngineSource, type Guest } from 'caisson'
        import { createFileCapabilities, createNodeFetchCapabilities, openDirectoryFileTree } from 'caisson/bindings'
        import type { DirectoryFileTree, FetchOptions, FileQuota, NodeFetchOptions } from 'caisson/bindings'
        ${PROGRAM}
        const quota: Partial<FileQuota> = { entries: 5 }
        const web: FetchOptions = { allow: ['example.com'] }
        export const net = createNodeFetchCapabilities(web satisfies NodeFetchOptions)
        export const files = async (): Promise<unknown> => {
          await using tree: DirectoryFileTree = await openDirectoryFileTree({ root: '.', quota })
          return createFileCapabilities({ tree })
        }
        export const end = (guest: Guest): void => guest[Symbol.dispose]()
        export const ids = (source: EngineSource): readonly string[] => source.ids
      `,
    },
  },
  'a page, bundled by Vite': {
    options: { module: 'esnext', moduleResolution: 'bundler', target: 'es2022', lib: ['es2022', 'dom'] },
    files: {
      'vite.d.ts': "declare module '*?url' { const src: string; export default src }",
      'main.ts': `
        import { capability, engineFromUrl, openRuntime } from 'caisson/browser'
        import { createWebFetchCapabilities, type WebFetchOptions } from 'caisson/bindings'
        import engine from 'caisson/engine/v8.wasm?url'
        ${PROGRAM}
        export const source = engineFromUrl(engine)
        const options: WebFetchOptions = { allow: ['example.com'], platform: 'edge' }
        export const net = createWebFetchCapabilities(options)
      `,
    },
  },
  'a page, bundled with a loader that gives URLs': {
    options: { module: 'esnext', moduleResolution: 'bundler', target: 'es2022', lib: ['es2022', 'dom'] },
    files: {
      'loader.d.ts': "declare module 'caisson/engine/v8.wasm' { const url: string; export default url }",
      'main.ts': `
        import { engineFromUrl } from 'caisson/browser'
        import engine from 'caisson/engine/v8.wasm'
        export const source = engineFromUrl(new URL(engine, import.meta.url))
      `,
    },
  },
  'an edge worker': {
    options: {
      module: 'esnext',
      moduleResolution: 'bundler',
      target: 'es2022',
      lib: ['es2022', 'webworker'],
    },
    files: {
      'main.ts': `
        import { capability, openRuntime as open, type Runtime } from 'caisson/edge'
        import engine from 'caisson/engine/v8.wasm'
        const openRuntime = (options: object): Promise<Runtime> => open({ ...options, engine })
        ${PROGRAM}
        export const size: number = WebAssembly.Module.exports(engine).length
      `,
    },
  },
}

/** Compiler options of the project, for `tsconfig.json` or the compiler's own interface. */
export function consumerOptions({ options }: ConsumerProject): object {
  return { strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [], ...options }
}

/** Packs the package as it was built, and installs it in `folder` with what its types need. */
export function installPackage(folder: string): void {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@standard-schema'), { recursive: true })
  mkdirSync(join(modules, '@types'))
  const options = { stdio: 'pipe', shell: process.platform === 'win32' } as const
  const packed = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    ...options,
    cwd: ROOT,
    encoding: 'utf8',
  })
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  execFileSync('tar', ['-xzf', filename], { ...options, cwd: folder })
  symlinkSync(join(folder, 'package'), join(modules, 'caisson'), 'junction')
  for (const installed of ['@standard-schema/spec', '@types/node', 'undici-types']) {
    symlinkSync(join(ROOT, 'node_modules', installed), join(modules, installed), 'junction')
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}')
}

/** Writes the files of a project into `folder`, and gives their paths. */
export function writeProject(folder: string, { files }: ConsumerProject): readonly string[] {
  mkdirSync(folder)
  return Object.entries(files).map(([name, text]) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  })
}
