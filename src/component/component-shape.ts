/** What a component imports and exports, with its types: learned by linking it without running anything. */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { FunctionType } from './abi/wit-type.ts'
import type { ComponentAst } from './binary/component-ast.ts'
import { unsupportedInComponent } from './binary/component-error.ts'
import type { ComponentFunction } from './link/component-function.ts'
import { FaultDomain } from './link/fault-domain.ts'
import { linkComponent } from './link/link-component.ts'
import type { LinkedInstance } from './link/link-scope.ts'
import { exportsText } from './near-exports.ts'

export interface ImportedFunction {
  /** `wasi:cli/exit@0.2.0`, or `$root` for what is imported beside all interfaces. */
  readonly interface: string
  /** As WIT has it: `exit`, `[method]descriptor.read`. */
  readonly name: string
  readonly type: FunctionType
}

export interface ExportedFunction {
  /** `run`, or `example:shop/prices@1.0.0#lookup`. */
  readonly name: string
  readonly type: FunctionType
}

export interface ComponentShape {
  readonly imports: readonly ImportedFunction[]
  readonly exports: readonly ExportedFunction[]
}

/** As many as definitions. */
const MOST_EXPORTS = 200_000

const TYPES_ONLY = { bytes: 0, nodes: 0 }

/** @throws CaissonError `invalid_component`, `unsupported_feature` */
export async function describeComponent(root: ComponentAst): Promise<ComponentShape> {
  const imports: ImportedFunction[] = []
  const linked = await linkComponent(root, {
    domain: new FaultDomain(TYPES_ONLY, () => {}),
    instantiate: () => undefined,
    func(path, name, type) {
      imports.push({ interface: path, name, type })
      return { type, call: () => undefined }
    },
    resource: (_path, name) => ({ name, owner: undefined, drop: () => {} }),
    runDestructor: () => {},
  })
  return { imports, exports: exportedFunctions(linked).map(([name, { type }]) => ({ name, type })) }
}

/** The functions of an instance and of the interfaces that it exports, by the names under which they are called. */
export function exportedFunctions(linked: LinkedInstance): [name: string, target: ComponentFunction][] {
  const found: [string, ComponentFunction][] = []
  for (const [name, exported] of linked) {
    if (exported.sort === 'func') found.push([name, exported.item])
    if (exported.sort !== 'instance') continue
    // One instance may be exported under many names.
    if (found.length + exported.item.size > MOST_EXPORTS)
      throw unsupportedInComponent(`more than ${MOST_EXPORTS} exported functions`)
    for (const [own, { sort, item }] of exported.item)
      if (sort === 'func') found.push([`${name}#${own}`, item])
  }
  return found
}

/** What is said of a name that none of `names` is. */
export function unknownExport(name: string, names: readonly string[]): CaissonError {
  const shown = JSON.stringify(clipText(name, 200))
  return new CaissonError(
    'not_found',
    clipText(`The component exports no function ${shown}.${exportsText(name, names)}`, 2_000),
  )
}

/**
 * An export that is called with plain values, by whoever holds no resources.
 * @throws CaissonError `not_found`, `unsupported_feature`
 */
export function plainExport(exports: readonly ExportedFunction[], name: string): FunctionType {
  const found = exports.find((one) => one.name === name)
  if (found !== undefined && !takesHandles(found.type)) return found.type
  const plain = exports.filter(({ type }) => !takesHandles(type)).map((one) => one.name)
  if (found === undefined) throw unknownExport(name, plain)
  throw new CaissonError(
    'unsupported_feature',
    clipText(`"${clipText(name, 200)}" takes or gives resources, which nobody holds here.`, 2_000),
  )
}

function takesHandles({ tuple, result }: FunctionType): boolean {
  return tuple?.handles === true || result?.handles === true
}

/** @throws CaissonError `invalid_arguments` */
export function checkArgumentCount(name: string, { params }: FunctionType, given: number): void {
  if (given === params.length) return
  const names = params.map((one) => `${one.name}: ${one.type.kind}`).join(', ')
  const signature = params.length === 0 ? '' : `: ${clipText(names, 500)}`
  throw new CaissonError(
    'invalid_arguments',
    `"${clipText(name, 200)}" takes ${params.length} ${params.length === 1 ? 'argument' : 'arguments'}, not ${given}${signature}.`,
  )
}
