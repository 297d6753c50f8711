/** What stands behind the imports of an instance, as its modules call it. */
import type { LiveResource } from './abi/resources.ts'
import type { FunctionType } from './abi/wit-type.ts'
import type { ComponentImports, ImportCall } from './component-imports.ts'
import type { ImportedFunction } from './component-shape.ts'
import type { ComponentWait } from './component-wait.ts'
import type { ImportWait, OtherWaits } from './import-wait.ts'
import type { InstanceMeter } from './instance-meter.ts'
import { type ComponentFunction, SUSPENDED } from './link/component-function.ts'
import type { FaultDomain } from './link/fault-domain.ts'
import { grantOfComponent, knownPlaces, type MissingImport, missingImports } from './missing-imports.ts'

export interface InstanceImportsParts {
  readonly imports: ComponentImports
  readonly meter: InstanceMeter
  readonly domain: FaultDomain
  /** Left out where no module was prepared to wait. */
  readonly wait: ComponentWait | undefined
  /** Instead of it, in imports that may be answered later. */
  readonly other: { readonly by: ImportWait; readonly isAwaited: OtherWaits['isAwaited'] } | undefined
}

/**
 * What of the imports nobody grants.
 * @throws CaissonError `missing_imports` with `details: { missing: [{ interface, name, grant? }] }`
 */
export function checkImports(wanted: readonly ImportedFunction[], imports: ComponentImports): void {
  const missing = missingOf(wanted, imports)
  if (missing.length === 0) return
  throw missingImports('component', missing)
}

/** @param known names of capabilities that there are */
export function missingOf(
  wanted: readonly ImportedFunction[],
  imports: Pick<ComponentImports, 'func'>,
  known: readonly string[] = [],
): readonly MissingImport[] {
  const places = knownPlaces(known)
  return wanted
    .filter((one) => imports.func(one.interface, one.name, one.type) === undefined)
    .map(({ interface: from, name }) => {
      const grant = grantOfComponent(from, name, places)
      return { interface: from, name, ...(grant !== undefined && { grant }) }
    })
}

/** A function of the host: it may answer later where the guest can wait. */
export function importedFunction(
  { imports, meter, domain, wait, other }: InstanceImportsParts,
  path: string,
  name: string,
  type: FunctionType,
): ComponentFunction {
  const call = imports.func(path, name, type) as ImportCall
  const plain = {
    type,
    call: (args: readonly unknown[]): unknown => {
      const answer = call(args)
      if (answer !== SUSPENDED) meter.gauge.hostWorked()
      return answer
    },
  }
  const at = { module: path, name }
  if (other?.isAwaited({ interface: path, name }) === true) {
    const { by } = other
    return {
      ...plain,
      wait: {
        enter: (core) => core,
        suspend: () => by.suspend(at, domain.nesting),
        lowered: (core) => by.add?.(core),
      },
    }
  }
  if (wait === undefined) return plain
  return {
    type,
    call: (args) => {
      const come = wait.takeAnswer()
      return come === undefined ? plain.call(args) : come()
    },
    wait: {
      enter: (core) => wait.enter(at, core),
      suspend: (core) => {
        wait.suspend(at, core, domain.nesting)
        return undefined
      },
    },
  }
}

export function importedResource(imports: ComponentImports, path: string, name: string): LiveResource {
  return { name, owner: undefined, drop: (resource) => imports.dropResource(path, name, resource) }
}
