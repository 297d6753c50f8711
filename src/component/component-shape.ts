/** What a component imports and exports, with its types: learned by linking it without running anything. */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import { nearNames } from '../capability/near-names.ts'
import type { FunctionType } from './abi/wit-type.ts'
import type { ComponentAst } from './binary/component-ast.ts'
import { unsupportedInComponent } from './binary/component-error.ts'
import type { ComponentFunction } from './link/component-function.ts'
import { FaultDomain } from './link/fault-domain.ts'
import { linkComponent } from './link/link-component.ts'
import type { LinkedInstance } from './link/link-scope.ts'

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
  const [near] = nearNames(name, names)
  const hint =
    near === undefined ? `It exports: ${names.slice(0, 20).join(', ')}.` : `Did you mean "${near}"?`
  return new CaissonError(
    'not_found',
    clipText(`The component exports no function ${JSON.stringify(clipText(name, 200))}. ${hint}`, 2_000),
  )
}
