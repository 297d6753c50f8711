import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryPlan } from '../run/arbitrary-plan.testkit.ts'
import { readPlan } from './define-plan.ts'
import { parsePlanText } from './parse-plan-text.ts'

/** Each problem of a text as `line:column pointer: problem`. */
function problemsOf(text: string): string[] {
  const parsed = parsePlanText(text)
  const problems = parsed.problems.count > 0 ? parsed.problems : readPlan(parsed.document).problems
  return (problems?.found ?? []).map((problem) => {
    const { line, column } = parsed.placeOf(problem)
    return `${line}:${column} ${problem.at}: ${problem.problem}`
  })
}

const HEAD = 'format: plan/1\nname: a\nversion: "1"\n'

describe('the text of a plan', () => {
  it('is YAML', () => {
    const text = `${HEAD}nodes:\n  a: { kind: wait, forMs: 1 } # a comment\n`
    expect(parsePlanText(text).document).toEqual({
      format: 'plan/1',
      name: 'a',
      version: '1',
      nodes: { a: { kind: 'wait', forMs: 1 } },
    })
  })

  it('is JSON, whatever plan it is of', () => {
    fc.assert(
      fc.property(arbitraryPlan(1), (plan) => {
        const text = JSON.stringify(plan, undefined, 2)
        expect(parsePlanText(text).document).toEqual(JSON.parse(text))
      }),
      { numRuns: 30 },
    )
  })

  it('is any JSON value, read as JSON reads it or refused', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.boolean(), (value, spaced) => {
        const text = JSON.stringify(value, undefined, spaced ? 2 : undefined)
        const { document, problems } = parsePlanText(text)
        if (problems.count === 0) expect(document).toEqual(JSON.parse(text))
      }),
      { numRuns: 200 },
    )
  })

  it('is any text at all, and never throws', () => {
    const yaml = fc.array(
      fc.constantFrom(...'a: - [ ] { } , ? & * ! | > \n " \' # % @ ` ~ 1 --- ...'.split(' '), ' ', '\n '),
    )
    fc.assert(
      fc.property(yaml, (parts) => {
        const { problems, placeOf } = parsePlanText(parts.join(''))
        for (const problem of problems.found) expect(placeOf(problem).line).toBeGreaterThan(0)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a problem of a text has the place', () => {
  const cases: readonly [what: string, text: string, expected: RegExp][] = [
    [
      'of a member',
      `${HEAD}nodes:\n  a:\n    kind: wait\n    form: 1\n`,
      /^7:5 \/nodes\/a\/form: is not known here/,
    ],
    [
      'of an element',
      `${HEAD}grants: [a.b, 7]\nnodes: {}`,
      /^4:15 \/grants\/1: must be the name of a capability/,
    ],
    [
      'of the node that lacks something',
      `${HEAD}nodes:\n  a:\n    kind: call\n`,
      /^5:3 \/nodes\/a: "capability" is missing/,
    ],
    ['in characters, not in halves of them', `{"😀": 1, "b": 2}`, /1:2 .*1:10 \/b/s],
    ['of the second of two equal keys', `${HEAD}name: b\n`, /^4:1 \/name: stands here twice/],
    ['of a key that is equal once it is read', '{"a": 1, "\\u0061": 2}', /^1:10 \/a: stands here twice/],
    ['where it is no YAML', 'a: [1, 2\nb: 3\n', /^\d+:\d+ : /],
    ['with Windows line ends', `${HEAD.replaceAll('\n', '\r\n')}x: 1\r\n`, /^4:1 \/x: is not known here/],
  ]
  it.each(cases)('%s', (_, text, expected) => {
    expect(problemsOf(text).join('\n')).toMatch(expected)
  })

  it('of a line in a program', () => {
    const text =
      'a:\n  b: |\n\n    const x = 1\n    return  x y\n  c: x + y\n  d: "x + y"\n  e: >\n    x\n    y\n'
    const { placeIn } = parsePlanText(text)
    expect(placeIn('/a/b', { line: 3, column: 11 })).toEqual({ line: 5, column: 15 })
    expect(placeIn('/a/c', { line: 1, column: 5 })).toEqual({ line: 6, column: 10 })
    expect(placeIn('/a/d', { line: 1, column: 5 })).toEqual({ line: 7, column: 11 })
    // Where the text was folded, or there is none: said of the whole.
    expect(placeIn('/a/e', { line: 1, column: 3 })).toBeUndefined()
    expect(placeIn('/a/b', { line: 30, column: 1 })).toBeUndefined()
    expect(placeIn('/a', { line: 1, column: 1 })).toBeUndefined()
  })
})

describe('a text is refused that two readers could read differently', () => {
  const cases: readonly [what: string, text: string, expected: RegExp][] = [
    ['duplicate keys', 'a: 1\na: 2', /stands here twice/],
    ['an anchor', 'a: &x 1\nb: *x', /has an anchor/],
    ['an alias', '- *x', /refers to an anchor/],
    ['a tag', 'a: !!binary aGk=', /has the tag tag:yaml.org,2002:binary/],
    ['a tag of its own', 'a: !run x', /unresolved tag/],
    ['a tag on a key', '!!str a: 1', /a key that is no plain text/],
    ['a key that is a number', '1: a', /a key that is no plain text/],
    ['a key that is a list', '? [a]\n: b', /a key that is no plain text/],
    ['another version of YAML', '%YAML 1.1\n---\na: yes', /is YAML 1.1 by its own words/],
    ['two documents', 'a: 1\n---\nb: 2', /multiple documents/],
    ['a number that not all hold', 'a: 9007199254740993', /a whole number that not all readers hold/],
  ]
  it.each(cases)('%s', (_, text, expected) => {
    expect(problemsOf(text).join('\n')).toMatch(expected)
  })

  it('but words that look so are texts', () => {
    expect(parsePlanText('a: yes\nb: <<\nc: 2026-01-01\n<<: no').document).toEqual({
      a: 'yes',
      b: '<<',
      c: '2026-01-01',
      '<<': 'no',
    })
    expect(Object.keys(parsePlanText('__proto__: 1').document as object)).toEqual(['__proto__'])
  })
})

describe('a hostile text costs little', () => {
  /** CPU time in milliseconds: other work on the machine does not count. */
  function costOf(text: string): { problems: readonly string[]; ms: number } {
    const begun = process.cpuUsage()
    const problems = parsePlanText(text).problems.found.map(({ problem }) => problem)
    const { user, system } = process.cpuUsage(begun)
    return { problems, ms: (user + system) / 1_000 }
  }
  const MIB = 1024 * 1024
  const fill = (part: string): string => part.repeat(Math.floor(MIB / part.length))
  const cases: readonly [what: string, text: string, expected: RegExp][] = [
    [
      'a mebibyte of keys',
      Array.from({ length: 90_000 }, (_, i) => `k${i}: 1`).join('\n'),
      /at most 150000 words/,
    ],
    ['a mebibyte of one key', fill('a:\n'), /at most 150000 words/],
    ['brackets', '['.repeat(3_000), /nested too deep/],
    ['lists in lists', '- '.repeat(3_000), /nested too deep/],
    ['deep as the stack just holds', `${'['.repeat(300)}${']'.repeat(300)}`, /nested more than 128 deep/],
    ['errors', `[${',,,,'.repeat(3_000)}`, /unexpected/],
    ['a billion laughs', 'a: &a [x]\nb: &b [*a, *a]\nc: &c [*b, *b]', /has an anchor/],
    ['too long a text', `${fill('#')}##########`, /characters; at most 1048576 are read/],
  ]
  it.each(cases)('%s', (_, text, expected) => {
    const { problems, ms } = costOf(text)
    expect(problems.join('\n')).toMatch(expected)
    expect(ms).toBeLessThan(10_000)
  })

  it('ten thousand keys are read', () => {
    const { problems } = costOf(Array.from({ length: 10_000 }, (_, i) => `k${i}: 1`).join('\n'))
    expect(problems).toEqual([])
  })
})
