/** The transpiler's script in the test's own engine: where many texts are compared, and none is hostile. */
import { runInThisContext } from 'node:vm'
import { source } from '../../engines/typescript.js'
import type { Transpiled } from '../../guest/typescript/main.ts'

export const transpileInHost: (source: string) => Transpiled = runInThisContext(source)

/** @throws Error with what was refused */
export function javascriptOf(typescript: string): string {
  const result = transpileInHost(typescript)
  if ('code' in result) return result.code
  throw new Error(`${result.message} (at ${result.index})`)
}
