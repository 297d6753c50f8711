import { describe, expect, it } from 'vitest'
import { readFrontMatter } from './front-matter.ts'
import { modesOf } from './scenario.ts'

const read = (yaml: string): ReturnType<typeof readFrontMatter> =>
  readFrontMatter(`// A licence.\n/*---\n${yaml}\n---*/\ncode()`)

describe('front matter', () => {
  it('reads lists in brackets, over several lines, and with dashes', () => {
    expect(read('includes: [a.js, b.js]').includes).toEqual(['a.js', 'b.js'])
    expect(read('features: [\n  let,\n  const\n  ]\nflags: [raw]').features).toEqual(['let', 'const'])
    expect(read('includes:\n  - a.js\n  - b.js\nflags: []').includes).toEqual(['a.js', 'b.js'])
    expect(read('features:\n- let\nesid: x').features).toEqual(['let'])
  })

  it('reads what must go wrong', () => {
    expect(read('negative:\n  phase: parse\n  type: SyntaxError\nflags: [raw]').negative).toEqual({
      phase: 'parse',
      type: 'SyntaxError',
    })
    expect(read('description: |\n  flags: [raw]\n  negative: no').negative).toBeUndefined()
    expect(() => read('negative:\n  phase: parse')).toThrow('phase and type')
    expect(() => readFrontMatter('code()')).toThrow('no front matter')
  })

  it.each([
    ['[module]', ['module']],
    ['[raw]', ['raw']],
    ['[onlyStrict]', ['strict']],
    ['[noStrict, async]', ['sloppy']],
    ['[async]', ['sloppy', 'strict']],
  ])('runs flags %s in %s', (flags, modes) => {
    expect(modesOf(read(`flags: ${flags}`))).toEqual(modes)
  })
})
