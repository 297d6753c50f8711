import { describe, expect, it } from 'vitest'
import { assemble } from './assemble.testkit.ts'
import { capModule } from './cap.ts'
import { indexSpaces } from './module.ts'
import { parseModule } from './parse-module.ts'

const MODULE = parseModule(
  assemble(`(module (import "env" "m" (memory 2)) (import "env" "t" (table 1 50 funcref))
    (memory $small 1 3) (table $own 4 externref))`),
)

describe('capModule', () => {
  it('lowers every maximum, imported and defined, and raises none', () => {
    const { memories, tables } = indexSpaces(capModule(MODULE, { maxMemoryPages: 10, maxTableEntries: 20 }))
    expect(memories.map(({ max }) => max)).toEqual([10, 3])
    expect(tables.map(({ limits }) => limits.max)).toEqual([20, 20])
  })

  it('leaves alone what it is given no cap for', () => {
    expect(indexSpaces(capModule(MODULE, {})).memories).toEqual(indexSpaces(MODULE).memories)
  })

  it('gives no more entries to many tables than to one, and lowers what they share with others alike', () => {
    const of = (tables: string): readonly (number | undefined)[] =>
      indexSpaces(capModule(parseModule(assemble(`(module ${tables})`)), { maxTableEntries: 20 })).tables.map(
        ({ limits }) => limits.max,
      )
    expect(of('(table 2 externref) (table 4 funcref) (table 0 3 funcref)')).toEqual([6, 8, 3])
    expect(of('(import "env" "t" (table 1 funcref)) (table 8 funcref) (table 12 funcref)')).toEqual([
      20, 8, 12,
    ])
    expect(() => of('(table 8 funcref) (table 13 funcref)')).toThrow(/tables of 21 entries.*at most 20/)
  })

  it('refuses modules that start larger, and caps that make no sense, with the unit', () => {
    expect(() => capModule(MODULE, { maxMemoryPages: 1 })).toThrow(/2 pages.*at most 1/)
    expect(() => capModule(MODULE, { maxTableEntries: 3 })).toThrow(/4 entries/)
    expect(() => capModule(MODULE, { maxMemoryPages: Number.NaN })).toThrow(/whole number of pages/)
    expect(() => capModule(MODULE, { maxMemoryPages: -1 })).toThrow(/whole number of pages/)
  })
})
