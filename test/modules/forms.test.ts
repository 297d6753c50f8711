import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'

const runtime: Runtime = await openRuntime()
afterAll(() => runtime.close())

const modules = { './a.js': 'export const a = async (x) => x + 1' }

describe('a program as models write it', () => {
  it.each([
    ['an arrow function', 'async () => {\n  return 42\n}'],
    ['export default before an arrow function', 'export default async (input) => {\n  return 42\n}'],
    ['export default before a function', 'export default async function main() {\n  return 42\n}'],
    ['a function', 'function main(input) {\n  return input + 1\n}\n'],
    ['an async function', 'async function main(input) { return input + 1 }'],
    ['a function without a name', 'function (input) { return input + 1 };'],
    ['a function in TypeScript', 'function main(input: number): number { return input + 1 }'],
    [
      'a function among comments',
      '// a }\n/* b */ function main(input) {\n return input + 1\n}\n// main(1) }\n',
    ],
    [
      'a function behind a line for the shell',
      '#!/usr/bin/env caisson\nfunction f(input) { return input + 1 }',
    ],
    ['a function in a fence', 'So:\n```js\nfunction main(input) { return input + 1 }\n```\nThat is it.'],
    ['a call at the end', 'function main() {\n  return 42\n}\n\nmain()'],
    ['an awaited call at the end', 'async function main() {\n  return 42\n}\n\nawait main();\n'],
    ['a function that is called where it stands', '(async () => {\n  return 42\n})()'],
    [
      'imports, and a call at the end',
      "import { a } from './a.js'\n\nfunction main() {\n  return a(41)\n}\n\nmain();\n",
    ],
    [
      'imports, and an awaited call',
      "import { a } from './a.js'\nasync function main() { return a(41) }\nawait main()",
    ],
    [
      'imports, and a function that is called',
      "import { a } from './a.js';\n\n(async () => {\n  const s = `\nmain()\n`\n  return a(41)\n})();",
    ],
    [
      'imports, and return',
      "import { a } from './a.js'\nif (input === 41) {\n  return a(input)\n}\nreturn 0",
    ],
    ['imports in TypeScript, and return', "import { a } from './a.js'\nconst n: number = input\nreturn a(n)"],
    ['imports, and an expression', "import { a } from './a.js'\nconst b = await a(40)\nb + 1"],
    [
      'prose around a fence',
      'Sure! Here:\n\n```javascript\nconst x = 41\nreturn x + 1\n```\n\nimport it as you like.',
    ],
    ['a module in a fence', "Text.\n```js\nimport { a } from './a.js'\nexport default a(41)\n```"],
  ])('may be %s', async (_, source) => {
    expect(await runtime.run(source, { modules, input: 41 })).toMatchObject({
      status: 'completed',
      value: 42,
    })
  })

  it.each([
    ['import { a } from "./a.js"\nconst s = `\nmain()\n`', undefined],
    ['import { a } from "./a.js"\nif (false)\na(1)', undefined],
    ['import { a } from "./a.js"\nconst f = () =>\na(1)', undefined],
    ['import { a } from "./a.js"\n/*\na(1)\n*/', undefined],
    ['import { a } from "./a.js"\nlet x = 1 // why\nx', undefined],
    ['import { a } from "./a.js"\nexport default 7\na(1)', 7],
  ])('has no other value than it has: %j', async (source, value) => {
    expect(await runtime.run(source, { modules })).toMatchObject({ status: 'completed', value })
  })

  it.each([
    ['function f(a) { return a }\n(3)', 3],
    ['function f(a) { return a }\n(3) // }', 3],
    ['function f(a) { return a }\n+{}', Number.NaN],
    ['function f(a) { return a }\n`3`', '3'],
    ['function f(a) { return a }\nfunction g() {}', undefined],
    ['function* f() { yield 1 }', undefined],
    ['function f(a) { return a }\nreturn { a: f(3) }', { a: 3 }],
    ['const f = (a) => a', undefined],
  ])('is a function only where nothing else stands: %j', async (source, value) => {
    expect(await runtime.run(source, { input: 41 })).toMatchObject({ status: 'completed', value })
  })

  it.each([
    ['function f() { null.x }', 1, 20],
    ["import { a } from './a.js'\n\nfunction main() {\n  null.x\n}\n\nmain()", 4, 7],
    ["import { a } from './a.js'\nconst b = null\nreturn a(b.x)", 3, 11],
    ['Prose.\n\n```js\nconst a = 1\n  null.x\n```', 5, 7],
    ["Prose.\n```js\nimport { a } from './a.js'\nawait a(null.x)\n```", 4, 13],
  ])('keeps its places: %j', async (source, line, column) => {
    const outcome = await runtime.run(source, { modules })
    expect(outcome).toMatchObject({ status: 'failed', error: { name: 'TypeError', position: { line } } })
    expect(outcome).toMatchObject({ error: { position: { column } } })
  })
})

describe('a program that is none', () => {
  it.each([
    [
      'Sure!\n```python\nprint(1)\n```',
      2,
      'the fence says python; this runs JavaScript and TypeScript',
      undefined,
    ],
    ['const a = 1\nThis program adds two numbers.', 2, expect.any(String), /reads like prose/],
    ['export const a = 1\nreturn a', 2, 'return not in a function', /export default VALUE/],
  ])('says so: %j', async (source, line, message, hint) => {
    const outcome = await runtime.run(source)
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { name: 'SyntaxError', message, position: { line } },
    })
    if (hint !== undefined) expect(outcome).toMatchObject({ hint: expect.stringMatching(hint) })
    const session = await runtime.openSession()
    expect(await session.evaluate(source)).toMatchObject({ status: 'failed', error: { name: 'SyntaxError' } })
  })

  it('may be TypeScript in a file of JavaScript', async () => {
    expect(await runtime.run('let v2, v3: string', { fileName: 'p.js' })).toMatchObject({
      hint: expect.stringContaining('let the name end in .ts'),
    })
    expect(await runtime.run('let v2, v3: string\n7')).toMatchObject({ status: 'completed', value: 7 })
  })
})
