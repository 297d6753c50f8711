/**
 * In which order modules can be imported one by one, so that they are evaluated as if the last one had been imported
 * alone.
 *
 * Where modules import each other in a circle, which of them comes first depends on where the circle was entered. So
 * of a circle only the module by which it is entered is imported; the others, and whatever is evaluated between them,
 * are left to that one.
 */
import type { ModuleFile } from '../machine/module-graph.ts'

/**
 * @param files in the order of a depth-first walk along their imports from the last one, each when all that it
 *   imports was walked
 * @returns those to import, the last one left out
 */
export function importOrder(files: readonly Pick<ModuleFile, 'name' | 'imports'>[]): readonly string[] {
  const place = new Map(files.map(({ name }, i) => [name, i]))
  /** From here to there, as far as it leads back: by the place where it begins. */
  const reach = files.map(({ imports }, i) =>
    imports.reduce((most, [, name]) => Math.max(most, place.get(name) ?? i), i),
  )
  const order: string[] = []
  let entered = 0
  for (const [i, { name }] of files.entries()) {
    entered = Math.max(entered, reach[i] ?? i)
    if (i >= entered && i < files.length - 1) order.push(name)
  }
  return order
}
