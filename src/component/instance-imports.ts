/** What stands behind the imports of an instance, as its modules call it. */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { LiveResource } from './abi/resources.ts'
import type { FunctionType } from './abi/wit-type.ts'
import type { ComponentImports, ImportCall } from './component-imports.ts'
import type { ImportedFunction } from './component-shape.ts'
import type { ComponentWait } from './component-wait.ts'
import type { InstanceMeter } from './instance-meter.ts'
import { type ComponentFunction, SUSPENDED } from './link/component-function.ts'
import type { FaultDomain } from './link/fault-domain.ts'

export interface InstanceImportsParts {
  readonly imports: ComponentImports
  readonly meter: InstanceMeter
  readonly domain: FaultDomain
  /** Left out where no module was prepared to wait. */
  readonly wait: ComponentWait | undefined
}

/**
 * What of the imports nobody grants.
 * @throws CaissonError `missing_imports` with `details: { missing: [{ interface, name }] }`
 */
export function checkImports(wanted: readonly ImportedFunction[], imports: ComponentImports): void {
  const missing = wanted
    .filter((one) => imports.func(one.interface, one.name, one.type) === undefined)
    .map((one) => ({ interface: one.interface, name: one.name }))
  if (missing.length === 0) return
  const names = missing.slice(0, 20).map((one) => `${one.interface}#${one.name}`)
  const more = missing.length > names.length ? ` and ${missing.length - names.length} more` : ''
  throw new CaissonError(
    'missing_imports',
    clipText(
      `The component imports what nobody grants: ${names.join(', ')}${more}. Grant the capability of that name (grants), or put an object behind it (interfaces).`,
      2_000,
    ),
    { details: { missing: missing.slice(0, 1_000) } },
  )
}

/** A function of the host: it may answer later where the guest can wait. */
export function importedFunction(
  { imports, meter, domain, wait }: InstanceImportsParts,
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
  if (wait === undefined) return plain
  const at = { module: path, name }
  return {
    type,
    call: (args) => {
      const come = wait.takeAnswer()
      return come === undefined ? plain.call(args) : come()
    },
    wait: {
      enter: (core) => wait.enter(at, core),
      suspend: (core) => wait.suspend(at, core, domain.nesting),
    },
  }
}

export function importedResource(imports: ComponentImports, path: string, name: string): LiveResource {
  return { name, owner: undefined, drop: (resource) => imports.dropResource(path, name, resource) }
}
