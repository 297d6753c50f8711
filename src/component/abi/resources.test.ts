import { describe, expect, it } from 'vitest'
import { HandleTable, type LiveResource } from './resources.ts'

describe('handles of a guest', () => {
  const resource = (name: string): LiveResource => ({ name, owner: undefined, drop: () => {} })

  it('are what they are, and nothing else', () => {
    const table = new HandleTable()
    const [door, key] = [resource('door'), resource('key')]
    const index = table.add(door, 7, true)
    expect(table.representation(index, door)).toBe(7)
    expect(() => table.representation(index, key)).toThrow('another type')
    expect(() => table.drop(index, key)).toThrow('another type')
    expect(() => table.representation(index + 1, door)).toThrow('that is none')
    table.drop(index, door)
    expect(() => table.representation(index, door)).toThrow('that is none')
  })
})
