/** Opens samples of `guest/samples` for tests. */

import { readSample } from '../../scripts/samples/read-sample.ts'
import { type Limits, parseLimits } from '../machine/limits.ts'
import { type ComponentImports, type HostInterfaces, hostInterfaces } from './component-imports.ts'
import { type ComponentInstance, openComponentInstance } from './component-instance.ts'
import { type PreparedComponent, prepareComponent } from './prepare-component.ts'

const monotonic = (): number => performance.now()
const prepared = new Map<string, Promise<PreparedComponent>>()

export function prepareSample(name: string): Promise<PreparedComponent> {
  const known = prepared.get(name)
  if (known !== undefined) return known
  const options = { profile: 'v8', maxMemoryPages: 256 } as const
  const made = readSample(name).then((bytes) => prepareComponent(bytes, options, monotonic))
  prepared.set(name, made)
  return made
}

export async function openSample(
  name: string,
  interfaces: HostInterfaces | ComponentImports = {},
  limits: Partial<Limits> = {},
): Promise<ComponentInstance> {
  const imports =
    typeof interfaces.func === 'function'
      ? (interfaces as ComponentImports)
      : hostInterfaces(interfaces as HostInterfaces)
  return openComponentInstance(await prepareSample(name), {
    imports,
    limits: parseLimits({ fuel: 100_000_000, ...limits }),
    monotonic,
  })
}

/** The value of a call that has to complete. */
export async function resultOf(
  instance: ComponentInstance,
  name: string,
  ...args: readonly unknown[]
): Promise<unknown> {
  const outcome = await instance.call(name, args)
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome), { cause: instance.fault })
  return outcome.value
}
