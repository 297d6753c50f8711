/** The modules that an embedder gave with a program, read once and checked, by their names. */
import { CaissonError } from '../base/errors.ts'
import { classify, packageName, resolvePath } from '../program/specifier.ts'
import type { ModuleOptions, ModuleSource } from './module-options.ts'

/** @throws CaissonError `invalid_argument` with `details: { option, module }` */
export function givenModules(given: ModuleOptions['modules'] = {}): ReadonlyMap<string, ModuleSource> {
  const modules = new Map<string, ModuleSource>()
  for (const key of Object.keys(given)) {
    const name = nameOf(key)
    if (modules.has(name)) throw refuse(key, 'is there twice, spelt in two ways')
    modules.set(name, sourceOf(key, given[key]))
  }
  return modules
}

function nameOf(key: string): string {
  const what = classify(key)
  if (what.kind === 'bare') return packageName(key)
  const resolved = what.kind === 'refused' ? what : resolvePath(key, '')
  if ('name' in resolved && resolved.name !== undefined) return resolved.name
  throw refuse(key, `is no name for a module: ${'why' in resolved ? resolved.why : ''}`)
}

function sourceOf(key: string, given: unknown): ModuleSource {
  if (typeof given === 'string') return { source: given }
  if (typeof given === 'object' && given !== null) {
    const { source, type } = given as Partial<Record<keyof ModuleSource, unknown>>
    if (typeof source === 'string' && (type === undefined || type === 'js' || type === 'json')) {
      return { source, ...(type && { type }) }
    }
  }
  throw refuse(key, 'must be a text, or { source, type } with type "js" or "json"')
}

function refuse(key: string, what: string): CaissonError {
  const shown = key.slice(0, 120)
  return new CaissonError('invalid_argument', `Option modules: ${JSON.stringify(shown)} ${what}.`, {
    details: { option: 'modules', module: shown },
  })
}
