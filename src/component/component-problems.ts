/** What keeps a component from being called, found before: in the words in which calling it says so. */
import { CaissonError } from '../base/errors.ts'
import type { GuestCapability } from '../capability/call.ts'
import { CapabilityPlaces, checkCapabilityType } from './capability-places.ts'
import { caught } from './caught-problem.ts'
import type { ComponentImports } from './component-imports.ts'
import { checkArgumentCount, plainExport } from './component-shape.ts'
import type { InspectedComponent } from './inspect-guest.ts'
import { missingOf } from './instance-imports.ts'
import { type GrantWays, missingImportsText } from './missing-imports.ts'

/** @returns what is wrong with a call of an export, and whether it is with its name or with its arguments */
export function exportProblem(
  { shape }: InspectedComponent,
  name: string,
  args: number,
): { readonly of: 'export' | 'args'; readonly error: CaissonError } | undefined {
  let of: 'export' | 'args' = 'export'
  const error = caught(() => {
    const type = plainExport(shape.exports, name)
    of = 'args'
    checkArgumentCount(name, type, args)
  })
  return error && { of, error }
}

export interface ComponentGrants {
  readonly granted: readonly GuestCapability[]
  /** Names of capabilities that could be granted. */
  readonly known: readonly string[]
  /** What WASI answers. */
  readonly wasi: Pick<ComponentImports, 'func'>
  /** How what is missing is granted. */
  readonly ways: GrantWays
}

/** @returns what it imports and nobody grants, and what is imported otherwise than it is */
export function componentImportProblems(
  { shape }: InspectedComponent,
  { granted, known, wasi, ways }: ComponentGrants,
): readonly CaissonError[] {
  const problems: CaissonError[] = []
  const add = (error: CaissonError | undefined): void => {
    if (error !== undefined) problems.push(error)
  }
  let places = NO_PLACES
  const ambiguous = caught(() => {
    places = new CapabilityPlaces(granted)
  })
  if (ambiguous !== undefined) return [ambiguous]
  const answered: Pick<ComponentImports, 'func'> = {
    func(from, name, type) {
      const bound = places.find({ interface: from, name })
      if (bound === undefined) return wasi.func(from, name, type)
      add(caught(() => checkCapabilityType(bound.capability.name, type)))
      return () => undefined
    },
  }
  const missing = missingOf(shape.imports, answered, known)
  if (missing.length > 0)
    problems.unshift(new CaissonError('missing_imports', missingImportsText('component', missing, ways)))
  return problems
}

const NO_PLACES = new CapabilityPlaces([])
