/**
 * What is said of imports that nobody grants: by a guest that is opened, and by whoever looks at it before. What to grant is
 * named, where something can be.
 */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import { nameProblem } from '../capability/capability-name.ts'
import { hostKey } from './abi/wit-type.ts'
import { ROOT } from './link/link-component.ts'
import { kebabName, witPlaceOf } from './wit-names.ts'

export interface MissingImport {
  /** Of a component; of a module the namespace. */
  readonly interface: string
  readonly name: string
  /** The capability that would stand behind it; left out where none can. */
  readonly grant?: string
  /** False for a table, a memory, a global or a tag, which are never granted. */
  readonly isFunction?: false
}

export type GuestForm = 'module' | 'component'

const MOST_NAMES = 20
const LONGEST_NAME = 120
const GLOBALS = 'globals'

/** How whoever runs it goes on: the API, plans and the command line each have their own words for that. */
export interface GrantWays {
  /** Where grants are given, behind their names. */
  readonly grant: string
  /** What else helps, as a sentence; empty where nothing does. */
  readonly also: Readonly<Record<GuestForm, string>>
}

const API_WAYS: GrantWays = {
  grant: ' (grants)',
  also: {
    module: " One that never calls them runs with missing: 'trap'.",
    component: ' Or put an object behind them (interfaces).',
  },
}

/** What a capability would be called behind a function that a module imports. */
export function grantOfModule(from: string, name: string): string | undefined {
  return nameOf(`${from}.${name}`)
}

/**
 * What a capability would be called behind an import of a component.
 * @param known names that there are, by their places: several can stand behind one interface
 */
export function grantOfComponent(
  from: string,
  name: string,
  known: ReadonlyMap<string, string>,
): string | undefined {
  if (from.startsWith('wasi:') || kebabName(name) !== name) return undefined
  const own = from === ROOT ? GLOBALS : /\/([^@/]+)(?:@.*)?$/.exec(from)?.[1]
  if (own === undefined) return undefined
  return (
    known.get(`${own}#${name}`) ??
    nameOf(own === GLOBALS ? hostKey(name) : `${hostKey(own)}.${hostKey(name)}`)
  )
}

/** Names of capabilities as `grantOfComponent` takes them. */
export function knownPlaces(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    names.map((name) => {
      const { interface: from, func } = witPlaceOf(name)
      return [`${from.slice(from.indexOf('/') + 1)}#${func}`, name]
    }),
  )
}

function nameOf(name: string): string | undefined {
  return nameProblem(name) === undefined ? name : undefined
}

/** `prices.lookup` of a module, `caisson:capabilities/prices#lookup` of a component. */
function importName(form: GuestForm, { interface: from, name }: MissingImport): string {
  const whole = form === 'module' ? `${from}.${name}` : from === ROOT ? name : `${from}#${name}`
  return clipText(whole, LONGEST_NAME)
}

/**
 * What is missing, what to grant, and what else helps.
 * @param missing functions and, of a module, what no embedder stands in for: `isFunction` is false
 */
export function missingImportsText(
  form: GuestForm,
  missing: readonly MissingImport[],
  ways: GrantWays = API_WAYS,
): string {
  const names = (of: readonly MissingImport[]): string => listed(of.map((one) => importName(form, one)))
  const never = missing.filter(({ grant }) => grant === undefined)
  const grants = [...new Set(missing.flatMap(({ grant }) => (grant === undefined ? [] : [`"${grant}"`])))]
  const what = `The ${form} imports what nobody grants it: ${names(missing)}.`
  const many = grants.length === 1 ? 'the capability' : 'the capabilities'
  const grant = grants.length === 0 ? '' : ` Grant it ${many} ${listed(grants)}${ways.grant}.`
  const none = never.length === 0 ? '' : ` No capability stands behind ${names(never)}.`
  const also = missing.every(({ isFunction }) => isFunction !== false) ? ways.also[form] : ''
  return clipText(what + grant + none + also, 2_000)
}

/** What an error of the API says, in other words. */
export function inWays(message: string, ways: GrantWays): string {
  const { grant, also } = API_WAYS
  return message
    .replace(`"${grant}.`, `"${ways.grant}.`)
    .replace(also.module, ways.also.module)
    .replace(also.component, ways.also.component)
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMES
  const shown = names.slice(0, MOST_NAMES).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}

/** @returns `missing_imports` with `details: { missing: [{ interface, name, grant? }] }` */
export function missingImports(form: GuestForm, missing: readonly MissingImport[]): CaissonError {
  return new CaissonError('missing_imports', missingImportsText(form, missing), {
    details: { missing: missing.slice(0, 1_000) },
  })
}
