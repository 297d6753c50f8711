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

  it('refuses modules that start larger, and caps that make no sense, with the unit', () => {
    expect(() => capModule(MODULE, { maxMemoryPages: 1 })).toThrow(/2 pages.*at most 1/)
    expect(() => capModule(MODULE, { maxTableEntries: 3 })).toThrow(/4 entries/)
    expect(() => capModule(MODULE, { maxMemoryPages: Number.NaN })).toThrow(/whole number of pages/)
    expect(() => capModule(MODULE, { maxMemoryPages: -1 })).toThrow(/whole number of pages/)
  })
})
