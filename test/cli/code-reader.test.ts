import { afterAll, describe, expect, it } from 'vitest'
import { CodeReader } from '../../src/cli/plan/code-reader.ts'

const reader = new CodeReader()
afterAll(() => reader.close())

describe('a program in a plan', () => {
  it.each([
    'return 1',
    'async function main(input) { return 1 }',
    'function (input) {\n  return 1\n}\n// main',
  ])('is found to be one: %j', async (source) => {
    expect(await reader.check({ source })).toEqual([])
  })

  it('that is none has the place of its problem', async () => {
    const found = await reader.check({ source: 'function f() {\n  return 1 +\n}' })
    expect(found).toMatchObject([{ problem: expect.stringContaining('SyntaxError'), place: { line: 3 } }])
  })
})
