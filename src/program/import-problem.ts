/** What is wrong with an import, in words that its author can act on. */
import type { ErrorCode } from '../base/errors.ts'
import { LOAD_MODULE } from '../machine/module-graph.ts'
import { meantModules } from './meant-module.ts'
import { platformModuleHint } from './platform-hints.ts'
import { placeOfIndex, type SourcePlace } from './source-place.ts'
import { classify, packageName, resolvePath } from './specifier.ts'

export interface ImportProblem {
  readonly code: ErrorCode
  readonly message: string
}

/**
 * What is wrong with an import before anybody is asked for the module.
 * @param open whether there is somebody to ask
 */
export function importProblem(specifier: string, referrer: string, open: boolean): ImportProblem | undefined {
  const hint = platformModuleHint(specifier)
  if (hint !== undefined) return { code: 'not_found', message: `${hint}.` }
  const what = classify(specifier)
  if (what.kind === 'refused') return cannotImport(specifier, referrer, what)
  if (open) return undefined
  return {
    code: 'not_found',
    message: `${importOf(specifier, referrer)} found nothing: the host gives this program no modules (options modules and loadModule of run).`,
  }
}

/** An import that leads nowhere. */
export function cannotImport(
  specifier: string,
  referrer: string,
  { code, why }: { readonly code: ErrorCode; readonly why: string },
): ImportProblem {
  return { code, message: `${importOf(specifier, referrer)} is refused: ${why}.` }
}

/** The host has no such module. @param has whether it has one of another name */
export function moduleMissing(
  specifier: string,
  referrer: string,
  name: string,
  has: (name: string) => boolean,
): ImportProblem {
  const hint = platformModuleHint(specifier)
  if (hint !== undefined) return { code: 'not_found', message: `${hint}.` }
  const bare = name.startsWith('package:')
  const path = bare ? resolvePath(`./${specifier}`, referrer).name : name
  const [, meant] = meantModules(specifier, path ?? specifier).find(([other]) => has(other)) ?? []
  const what = bare ? 'no package of this name was given' : `there is no module "${name}"`
  const instead = meant === undefined ? undefined : `write ${JSON.stringify(meant)}`
  const keyed = has(packageName(name)) ? `give it under the key ${JSON.stringify(`./${name}`)}` : undefined
  const next = instead ?? (bare ? 'bundle it, or map it in an import map' : keyed)
  return {
    code: 'not_found',
    message: `${importOf(specifier, referrer)} found nothing: ${what}${next === undefined ? '' : `; ${next}`}.`,
  }
}

/** `import './a.js' in lib/b.js`, bounded. */
export function importOf(specifier: string, referrer: string): string {
  const shown = specifier.length > 120 ? `${specifier.slice(0, 120)}…` : specifier
  return `import ${JSON.stringify(shown)} in ${referrer.slice(0, 200)}`
}

/** What to do where a guest that imports while it runs is taken up without modules; else empty. */
export function modulesWanted(missing: readonly string[]): string {
  return missing.includes(LOAD_MODULE)
    ? ' The program imports modules while it runs: give option modules or loadModule, as at its start.'
    : ''
}

/** UTF-16 units of a source that is searched: each import that fails has it searched. */
const MOST_SEARCHED = 1_000_000

/** Where `specifier` stands in a source, 1-based; undefined where it is spelt otherwise, and in a source that is very long. */
export function placeOfImport(source: string, specifier: string): SourcePlace | undefined {
  if (source.length > MOST_SEARCHED) return undefined
  for (const quote of [`'`, `"`]) {
    const index = source.indexOf(quote + specifier + quote)
    if (index >= 0) return placeOfIndex(source, index)
  }
  return undefined
}
