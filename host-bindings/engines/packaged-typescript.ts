/** The transpiler's script that comes with the package: a module of its own, which bundlers split off or take in. */
import type { TypeScriptSource } from '../../src/ports/typescript-source.ts'

export const packagedTypeScript: TypeScriptSource = async () =>
  (await import('../../engines/typescript.js')).source
