/** What keeps a module from being run, found before: in the words in which running it says so. */
import { CaissonError } from '../../base/errors.ts'
import type { GuestCapability } from '../../capability/call.ts'
import { caught } from '../caught-problem.ts'
import type { CoreImport } from '../core/core-manifest.ts'
import type { InspectedCore } from '../core/inspect-core.ts'
import { type GrantWays, missingImportsText } from '../missing-imports.ts'
import { checkCall, type ModuleCall } from './module-call.ts'
import { missingImport, roleOf } from './module-imports.ts'

/** @returns what is wrong with a call of an export, if anything is */
export function callProblem(
  { exports }: InspectedCore,
  call: Pick<ModuleCall, 'name' | 'args'>,
): CaissonError | undefined {
  return caught(() => checkCall({ exports }, call))
}

/**
 * @param functions of WASI
 * @param ways how what is missing is granted
 */
export function moduleImportProblems(
  { imports }: InspectedCore,
  granted: readonly GuestCapability[],
  functions: Readonly<Record<string, unknown>>,
  missing: 'refuse' | 'trap',
  ways: GrantWays,
): readonly CaissonError[] {
  const problems: CaissonError[] = []
  const without: CoreImport[] = []
  for (const item of imports) {
    const problem = caught(() => {
      if (roleOf(item, granted, functions, missing) === undefined) without.push(item)
    })
    if (problem !== undefined) problems.push(problem)
  }
  if (without.length === 0) return problems
  const text = missingImportsText('module', without.map(missingImport), ways)
  return [new CaissonError('missing_imports', text), ...problems]
}

/** Capabilities that are answered later, and that the module imports. */
export function awaitedOf(
  { imports }: Pick<InspectedCore, 'imports'>,
  granted: readonly GuestCapability[],
): readonly string[] {
  const names = new Set(imports.map(({ module, name }) => `${module}.${name}`))
  return granted.filter(({ name, sync }) => !sync && names.has(name)).map(({ name }) => name)
}
