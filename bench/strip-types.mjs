/**
 * Runs TypeScript sources in Node without changing how they perform: types are erased, nothing else is touched, and
 * packages load as they are published. (tsx keeps function names by a call at every creation of a closure, in packages
 * too, which makes a host call of quickjs-emscripten three times as slow.)
 *
 * The compiler is loaded on the thread of hooks only: in the heap that is measured, every collection would go through it.
 *
 * Use: `node --import ./bench/strip-types.mjs FILE.ts`. Newer versions of Node erase types by themselves.
 */
import { readFile } from 'node:fs/promises'
import { createRequire, register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const ts = isMainThread ? undefined : createRequire(import.meta.url)('typescript')

/** Module hook: erases the types of `.ts` files. */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context)
  const { outputText } = ts.transpileModule(await readFile(new URL(url), 'utf8'), {
    fileName: url,
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
    },
  })
  return { format: 'module', source: outputText, shortCircuit: true }
}

// Node loads this file twice: where it was asked for, and on the thread that runs hooks.
if (isMainThread) register(import.meta.url)
