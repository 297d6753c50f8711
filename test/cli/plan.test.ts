/** `caisson plan`: check, show, diff, schema. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, type Folder, makeFolder, OBEYED, toolsModule } from './cli.testkit.ts'

const HEAD = 'format: plan/1\nname: small\nversion: "1"\n'
const SMALL = `${HEAD}grants: [prices.lookup]
budget: { fuel: 1000000, calls: 5 }
nodes:
  look: { kind: call, capability: prices.lookup, input: { sku: { $from: input/sku } } }
  double:
    title: Twice the price
    kind: program
    file: programs/double.js
    input: { $from: look }
  ask:
    kind: approval
    question: Is this right?
    show: { $eval: "price > 3 ? price : null", with: { price: { $from: double } } }
output: { $from: ask }
`
const HOSTILE = '\u001b]0;x\u0007\u001b[2Jerror: fake\u202e'

let folder: Folder
const put = (name: string, text: string): void => writeFileSync(join(folder.path, name), text)
const plan = (...args: readonly string[]): ReturnType<typeof cli> =>
  cli(['plan', ...args], { cwd: folder.path })
/** Where each problem is, and what. */
const problems = async (text: string): Promise<readonly string[]> => {
  put('broken.yaml', text)
  const { code, stderr } = await plan('check', 'broken.yaml')
  expect(code).toBe(7)
  return stderr.trimEnd().split('\n').slice(0, -1)
}

beforeAll(() => {
  folder = makeFolder({ 'small.yaml': SMALL, 'tools.mjs': toolsModule('sources') })
  mkdirSync(join(folder.path, 'programs/lib'), { recursive: true })
  put('programs/double.js', "import { twice } from './lib/twice.js'\nreturn twice(input.price)\n")
  put('programs/lib/twice.js', 'export const twice = (n) => n * 2\n')
  put('programs/typed.ts', "import { twice } from './lib/twice.ts'\nreturn twice(input.price as number)\n")
  put('programs/lib/twice.ts', 'export const twice = (n: number): number => n * 2\n')
  put('programs/broken.js', 'const a = 1\nconst b = ;\n')
  put('programs/loops.js', 'while (true) {}\n')
  put('programs/linked.js', "import { no } from './lib/twice.js'\nexport default no\n")
  put('programs/outside.js', "import '../small.yaml'\n")
  put('secret.js', 'return "secret"')
  mkdirSync(join(folder.path, 'plans'))
  symlinkSync(join(folder.path, 'secret.js'), join(folder.path, 'plans/link.js'))
  symlinkSync(join(folder.path, 'programs'), join(folder.path, 'plans/folder'))
})
afterAll(() => folder.remove())

describe('caisson plan check', () => {
  it('says what a plan is that is right, its programs included', async () => {
    const { code, stdout, stderr } = await plan('check', 'small.yaml')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(stdout).toContain('nodes      3: 1 call, 1 program, 1 approval')
    expect(stdout).toContain('may call   prices.lookup')
    expect(stdout).toContain('may spend  1,000,000 fuel, 5 calls')
    const json = JSON.parse((await plan('check', 'small.yaml', '--json')).stdout) as { digest: string }
    expect(stdout).toContain(json.digest)
    expect(json).toMatchObject({
      status: 'valid',
      name: 'small',
      nodes: { call: 1, program: 1, approval: 1 },
    })
  })

  it('says that a plan may call nothing, whatever it may spend', async () => {
    put(
      'none.yaml',
      'format: plan/1\nname: none\nversion: "1"\nbudget: { calls: 5 }\nnodes: { p: { kind: program, source: "1" } }\n',
    )
    for (const what of ['check', 'show']) {
      const { stdout } = await plan(what, 'none.yaml')
      expect(stdout).toMatch(/may call {3}nothing\nmay spend {2}5 calls\n/)
    }
  })

  it('says of what the rules of arguments are to be a list, and where', async () => {
    const only = (rules: string): string =>
      `format: plan/1\nname: only\nversion: "1"\ngrants: [{ capability: a.b, only: ${rules} }]\nnodes: { p: { kind: call, capability: a.b } }\n`
    put('rule.yaml', only('{ /url: { prefix: "https://a.example/" } }'))
    put('name.yaml', only('{ url: [a] }'))
    put('list.yaml', only('[a]'))
    const said = async (file: string): Promise<string> =>
      JSON.stringify((await plan('check', file, '--json')).json())
    expect(await said('rule.yaml')).toContain(
      'must be a list of what may stand at this JSON Pointer into the arguments, such as',
    )
    expect(await said('name.yaml')).toContain('is no JSON Pointer into the arguments, such as \\"/url\\"')
    expect(await said('list.yaml')).toContain(
      'must be an object of lists by JSON Pointers into the arguments, such as',
    )
  })

  it('embeds programs with what they import: each of them is part of the digest', async () => {
    put('typed.yaml', SMALL.replace('double.js', 'typed.ts'))
    const shown = JSON.parse((await plan('show', 'typed.yaml', '--json')).stdout) as {
      digest: string
      plan: { nodes: { double: object } }
    }
    expect(shown.plan.nodes.double).toEqual({
      kind: 'program',
      title: 'Twice the price',
      input: { $from: 'look' },
      language: 'ts',
      source: "import { twice } from './lib/twice.ts'\nreturn twice(input.price as number)\n",
      modules: { './lib/twice.ts': 'export const twice = (n: number): number => n * 2\n' },
    })
    put('programs/lib/twice.ts', 'export const twice = (n: number): number => n * 2 // same\n')
    const again = JSON.parse((await plan('show', 'typed.yaml', '--json')).stdout) as { digest: string }
    expect(again.digest).not.toBe(shown.digest)
  })

  it('tells every problem at its place', async () => {
    const nodes = `${HEAD}nodes:
  a: { kind: wait }
  b:
    kind: program
    source: |
      const x = 1
      return x x
  c: { kind: program, file: programs/broken.js }
  d: { kind: approval, question: "?", when: { $eval: "1 +" } }
`
    expect(await problems(nodes.replace('kind: wait', 'kind: wiat'))).toEqual([
      expect.stringMatching(/^broken\.yaml:5:8: nodes\/a\/kind: must be .*did you mean "wait"/),
    ])
    expect(await problems(nodes)).toEqual([
      'broken.yaml:5:3: nodes/a: needs exactly one of forMs, until, event, and has none',
    ])
    const right = nodes.replace('kind: wait', 'kind: wait, forMs: 1')
    expect(await problems(right)).toEqual([
      "programs/broken.js:2:11: nodes/c/file: SyntaxError: unexpected token in expression: ';'",
    ])
    expect(await problems(right.replace('  c: { kind: program, file: programs/broken.js }\n', ''))).toEqual([
      expect.stringMatching(/^broken\.yaml:10:16: nodes\/b\/source: SyntaxError: /),
      expect.stringMatching(
        /^broken\.yaml:11:47: nodes\/d\/when\/\$eval: SyntaxError: unexpected end of the expression/,
      ),
    ])
    expect(await problems('a: [')).toEqual([expect.stringMatching(/^broken\.yaml:1:5: flow sequence/)])
  })

  it('shows the line on a terminal, cut to its width', async () => {
    put(
      'broken.yaml',
      `${HEAD}nodes:\n  node: { kind: call, capability: "a.b", title: "${'x'.repeat(100)}" }\n`,
    )
    const { stderr } = await cli(['plan', 'check', 'broken.yaml'], { cwd: folder.path, columns: 60 })
    expect(stderr).toContain('broken.yaml:5:23\n')
    expect(stderr).toMatch(/\n {2}5 \| .*capability: "a\.b".*\n {4}\| +\^\n/)
    for (const line of stderr.split('\n')) expect(line.length).toBeLessThan(60)
  })

  it('runs nothing of it: programs, modules and expressions are only read', async () => {
    const { code, stderr } = await plan('check', '-')
    expect(code).toBe(7)
    expect(stderr).toContain('stdin:1:1: must be an object, not null')
    put(
      'loops.yaml',
      `${HEAD}nodes:\n  a: { kind: program, file: programs/loops.js }\n  b: { kind: wait, until: { $eval: "(() => { for (;;); })()" } }\n`,
    )
    expect((await plan('check', 'loops.yaml')).code).toBe(0)
  })

  it('takes for an expression only what is one', async () => {
    for (const code of ['1); (2', '1)(2', 'a; b', 'return 1', '1\n2', '/*', 'x = 1; y', 'await a', ') => ('])
      expect(
        await problems(`${HEAD}nodes:\n  a: { kind: wait, until: { $eval: ${JSON.stringify(code)} } }\n`),
      ).toEqual([expect.stringMatching(/nodes\/a\/until\/\$eval: SyntaxError/)])
    const right = ['a', '{}.x', '({ a: 1 })', '(a, b)', 'x => x', '1 // one', '`a)`', 'f(1) // )', 'f("`")']
    const nodes = right.map(
      (code, i) => `  n${i}: { kind: wait, until: { $eval: ${JSON.stringify(code)} } }\n`,
    )
    put('right.yaml', `${HEAD}nodes:\n${nodes.join('')}`)
    expect(await plan('check', 'right.yaml')).toMatchObject({ code: 0, stderr: '' })
  })

  it('reads a program as strict where it says so', async () => {
    const program = (source: string): string =>
      `${HEAD}nodes:\n  a: { kind: program, source: ${JSON.stringify(source)} }\n`
    expect(await problems(program("// one\n/* * two */ 'use strict'\nreturn 010"))).toEqual([
      expect.stringMatching(/nodes\/a\/source: SyntaxError/),
    ])
    put('sloppy.yaml', program("const a = 'use strict'\nreturn 010"))
    expect(await plan('check', 'sloppy.yaml')).toMatchObject({ code: 0, stderr: '' })
  })

  it('refuses a small plan that embeds one large program a thousand times', async () => {
    const parts = ['a', 'b', 'c']
    for (const part of parts)
      put(`programs/lib/${part}.js`, `export default 1 //${'x'.repeat(4 * 1024 * 1024 - 100)}`)
    put('programs/large.js', `${parts.map((part) => `import './lib/${part}.js'\n`).join('')}export default 1`)
    const node = (i: number): string => `  n${i}: { kind: program, file: programs/large.js }\n`
    const nodes = Array.from({ length: 1_000 }, (_, i) => node(i)).join('')
    expect(await problems(`${HEAD}nodes:\n${nodes}`)).toEqual([
      expect.stringMatching(/^broken\.yaml:6:\d+: nodes\/n1\/file: .*larger than 16777216 bytes/),
    ])
  })

  it('names capabilities that there are not, if it knows which there are', async () => {
    expect((await plan('check', 'small.yaml', '--tools', 'tools.mjs')).code).toBe(0)
    put('other.yaml', SMALL.replaceAll('prices.lookup', 'prices.lookupp'))
    const { code, stderr } = await plan('check', 'other.yaml', '--tools', 'tools.mjs')
    expect(code).toBe(7)
    expect(stderr).toMatch(
      /^other\.yaml:4:10: grants\/0: there is no capability "prices\.lookupp" .*"prices\.lookup"/,
    )
  })
})

describe('a plan whose files lead elsewhere', () => {
  const cases: readonly [what: string, file: string, expected: RegExp][] = [
    ['upwards', '../secret.js', /leads upwards/],
    ['to the root', '/etc/passwd.js', /cannot be read/],
    ['through a link', 'link.js', /cannot be read/],
    ['through a link to a folder', 'folder/double.js', /cannot be read/],
    ['to nothing', 'gone.js', /cannot be read/],
    ['to what is no program', '../small.yaml', /no program by its name/],
    ['to a NUL', 'a\\0.js', /cannot be read/],
  ]
  it.each(cases)('is refused: %s', async (_, file, expected) => {
    put('plans/p.yaml', `${HEAD}nodes:\n  a: { kind: program, file: "${file}" }\n`)
    const { code, stdout, stderr } = await plan('check', 'plans/p.yaml')
    expect(code).toBe(7)
    expect(stderr).toMatch(expected)
    expect(stderr).toMatch(/^plans\/p\.yaml:5:23: nodes\/a\/file/)
    expect(stdout + stderr).not.toContain('return "secret"')
  })

  it('is refused where a program imports what is not beside it', async () => {
    const outside = await problems(`${HEAD}nodes:\n  a: { kind: program, file: programs/outside.js }\n`)
    expect(outside).toEqual([expect.stringMatching(/^programs\/outside\.js:1:\d+: .*leads out of the root/)])
    const linked = await problems(`${HEAD}nodes:\n  a: { kind: program, file: programs/linked.js }\n`)
    expect(linked).toEqual([
      expect.stringMatching(/^programs\/linked\.js:1:\d+: .*Could not find export 'no'/),
    ])
  })
})

describe('caisson plan show', () => {
  it('fits into sixty columns, nodes inside of others beside a bar', async () => {
    put(
      'nested.yaml',
      `${HEAD}nodes:\n  all:\n    kind: each\n    over: { $from: input }\n    most: 5\n    do:\n      nodes:\n        one: { kind: wait, forMs: 90000 }\n        two: { kind: approval, question: "${'a few words '.repeat(20)}", after: [one] }\n      output: { $from: two }\n`,
    )
    const { code, stdout } = await cli(['plan', 'show', 'nested.yaml'], { cwd: folder.path, columns: 60 })
    expect(code).toBe(0)
    expect(stdout).toContain(
      'all  each  over input, at most 5\n  runs       4 at once\n  │ one  wait  for 1 min 30 s\n',
    )
    expect(stdout).toMatch(/\n {2}│ {3}after {6}one\n/)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThan(72)
  })

  it('is a flowchart, a picture, or the plan itself', async () => {
    expect((await plan('show', 'small.yaml', '--format', 'mermaid')).stdout).toMatch(/^flowchart TD\n/)
    expect((await plan('show', 'small.yaml', '--format', 'svg')).stdout).toMatch(/^<svg [\s\S]*<\/svg>\n$/)
    const json = (await plan('show', 'small.yaml', '--format', 'json')).stdout
    expect(JSON.parse(json)).toMatchObject({ plan: { name: 'small' } })
    expect((await plan('show', 'small.yaml', '--json')).stdout).toBe(json)
    expect((await plan('show', 'small.yaml', '--format', 'pdf')).code).toBe(2)
    expect((await plan('show', 'small.yaml', '--format', 'svg', '--json')).code).toBe(2)
  })
})

describe('caisson plan diff', () => {
  it('says in words what changes, and whether it needs an approval', async () => {
    put('new.yaml', SMALL.replace('calls: 5', 'calls: 6').replace('version: "1"', 'version: "2"'))
    const { code, stdout } = await plan('diff', 'small.yaml', 'new.yaml')
    expect(code).toBe(0)
    expect(stdout).toBe(
      'Budget\n  + the budget for calls of the plan is 6, and was 5\nWords\n  = the version of the plan is "2", and was "1"\nA new approval is needed: the new plan may do more, or other things.\n',
    )
    const back = await plan('diff', 'new.yaml', 'small.yaml')
    expect(back.stdout).toContain('No new approval is needed')
    expect((await plan('diff', 'small.yaml', 'small.yaml')).stdout).toContain('The plans are the same')
    const json = JSON.parse((await plan('diff', 'small.yaml', 'new.yaml', '--json')).stdout) as object
    expect(json).toMatchObject({
      needsApproval: true,
      changes: [{ of: 'budget', effect: 'widened' }, { of: 'text' }],
    })
    put('broken.yaml', 'x: 1')
    expect((await plan('diff', 'small.yaml', 'broken.yaml')).code).toBe(7)
    expect((await plan('diff', '-', '-')).code).toBe(2)
  })
})

describe('caisson plan schema', () => {
  it('prints the JSON Schema', async () => {
    const { code, stdout } = await plan('schema')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ $ref: '#/$defs/plan', title: 'Plan' })
  })
})

describe('caisson plan', () => {
  it('says what it can do, and what was meant', async () => {
    const { code, stderr } = await plan('chek', 'small.yaml')
    expect(code).toBe(2)
    expect(stderr).toMatch(/check, show, diff, schema[\s\S]*Did you mean\s+caisson\s+plan check\?/)
    expect((await plan()).code).toBe(2)
    expect((await plan('check')).stderr).toContain('caisson plan check needs a FILE')
    expect((await plan('diff', 'a')).stderr).toContain('needs OLD and NEW')
    expect((await plan('diff', 'a', 'b', 'c')).stderr).toContain('takes OLD and NEW')
    expect((await plan('--help')).stdout).toContain('plan schema')
    expect((await plan('show', '--help')).stdout).toContain('text|mermaid|svg|json')
  })

  it('obeys nothing that a plan says', async () => {
    const words = JSON.stringify(HOSTILE)
    const hostile = SMALL.replace('Is this right?', words)
      .replace('Twice the price', words)
      .replace('nodes:', `description: ${words}\nnodes:`)
    put('hostile.yaml', hostile)
    put('hostile-2.yaml', hostile.replaceAll('fake', 'false'))
    put('hostile-3.yaml', hostile.replace('kind: call', `${words}: 1, kind: call`))
    for (const args of [
      ['check', 'hostile.yaml'],
      ['show', 'hostile.yaml'],
      ['show', 'hostile.yaml', '--json'],
      ['show', 'hostile.yaml', '--format', 'svg'],
      ['show', 'hostile.yaml', '--format', 'mermaid'],
      ['diff', 'hostile.yaml', 'hostile-2.yaml'],
      ['check', 'hostile-3.yaml'],
      ['check', 'hostile-3.yaml', '--json'],
    ]) {
      const { stdout, stderr } = await cli(['plan', ...args], { cwd: folder.path, columns: 80 })
      expect(stdout + stderr).not.toMatch(OBEYED)
    }
  })
})
