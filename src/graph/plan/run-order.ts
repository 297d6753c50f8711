/** The order in which people read the nodes of a scope. */

/** Nodes, each after those that it waits for; those of an equal distance from the beginning as in the plan. */
export function runOrder(before: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const left = new Map([...before].map(([id, waits]) => [id, waits.size]))
  const after = new Map<string, string[]>()
  for (const [id, waits] of before) {
    for (const other of waits) {
      const waiting = after.get(other)
      if (waiting === undefined) after.set(other, [id])
      else waiting.push(id)
    }
  }
  const order = [...before.keys()].filter((id) => left.get(id) === 0)
  for (const id of order) {
    for (const next of after.get(id) ?? []) {
      const waits = (left.get(next) ?? 0) - 1
      left.set(next, waits)
      if (waits === 0) order.push(next)
    }
  }
  return order
}
