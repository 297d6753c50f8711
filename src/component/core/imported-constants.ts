/** What a prepared module imports in place of its extended constant expressions. */
import { CONSTANT_NAMESPACE, evaluateConstant } from '../../wasm/lower-constants.ts'
import type { CoreManifest } from './core-manifest.ts'

/**
 * @param imports those of the original module
 * @returns to be put beside those
 * @throws CaissonError `invalid_module` where a global that is needed is not there
 */
export function importedConstants(
  { constants }: CoreManifest,
  imports: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>,
): WebAssembly.Imports {
  const globalOf = (module: string, name: string): unknown => {
    const global = imports[module]?.[name]
    return global instanceof WebAssembly.Global ? (global.value as unknown) : global
  }
  if (constants.length === 0) return {}
  const values = constants.map((constant) => [constant.name, evaluateConstant(constant, globalOf)])
  return { [CONSTANT_NAMESPACE]: Object.fromEntries(values) as WebAssembly.ModuleImports }
}
