/** What keeps a component from being called, found before: in the words in which calling it says so. */
import { CaissonError } from '../base/errors.ts'
import type { GuestCapability } from '../capability/call.ts'
import { CapabilityPlaces, checkCapabilityType } from './capability-places.ts'
import { caught } from './caught-problem.ts'
import { checkWaits } from './check-waits.ts'
import type { ComponentImports } from './component-imports.ts'
import { checkArgumentCount, plainExport } from './component-shape.ts'
import { awaitsHttp, cannotAwaitHttp, FETCH, sendsHttp } from './http-calls.ts'
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

/** @returns what it imports and nobody grants, what is imported otherwise than it is, and where it cannot wait */
export function componentImportProblems(
  { shape, cores }: InspectedComponent,
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
  const suspends = cores.map(({ imports }) => ({
    manifest: { suspends: imports.filter(({ kind }) => kind === 'function') },
  }))
  const isAwaited: CapabilityPlaces['isAwaited'] = (wanted) => places.isAwaited(wanted)
  add(caught(() => checkWaits({ shape, cores: suspends }, { isAwaited })))
  const sends = granted.some(({ name }) => name === FETCH) && shape.imports.some(sendsHttp)
  const waits = cores.some(({ imports }) => {
    const own = imports.map(({ module, name }) => ({ interface: module, name }))
    return own.some(sendsHttp) && own.some(awaitsHttp)
  })
  if (sends && !waits) add(cannotAwaitHttp())
  return problems
}

const NO_PLACES = new CapabilityPlaces([])
