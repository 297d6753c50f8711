import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModuleFile } from '../machine/module-graph.ts'
import { importOrder } from './module-order.ts'
import { postOrder } from './post-order.ts'

/** The order in which the language evaluates what `roots` import one after the other. */
function evaluated(
  edges: ReadonlyMap<string, readonly string[]>,
  roots: readonly string[],
): readonly string[] {
  const seen = new Set<string>()
  const done: string[] = []
  const walk = (name: string): void => {
    if (seen.has(name)) return
    seen.add(name)
    for (const to of edges.get(name) ?? []) walk(to)
    done.push(name)
  }
  for (const root of roots) walk(root)
  return done
}

describe('the order of imports', () => {
  it('leaves no module out of a graph without circles', () => {
    const files = [file('c'), file('b', 'c'), file('a', 'b', 'c')]
    expect(importOrder(files)).toEqual(['c', 'b'])
  })

  it('enters a circle where it was entered', () => {
    expect(importOrder([file('b', 'a'), file('a', 'b'), file('main', 'a')])).toEqual(['a'])
  })

  it('evaluates in the order of the language (property)', () => {
    const graph = fc.array(fc.array(fc.nat(9), { maxLength: 4 }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(graph, (adjacent) => {
        const edges = new Map(
          adjacent.map((to, i) => [String(i), to.map((n) => String(n % adjacent.length))] as const),
        )
        const expected = evaluated(edges, ['0'])
        const files = postOrder('0', (name) => edges.get(name) ?? []).map((name) =>
          file(name, ...(edges.get(name) ?? [])),
        )
        expect(files.map(({ name }) => name)).toEqual(expected)
        expect(evaluated(edges, [...importOrder(files), '0'])).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })
})

function file(name: string, ...imports: readonly string[]): Pick<ModuleFile, 'name' | 'imports'> {
  return { name, imports: imports.map((to) => [to, to] as const) }
}
