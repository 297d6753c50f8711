import { describe, expect, it } from 'vitest'
import { ImportScout } from './import-scout.ts'
import { openPool } from './isolate.testkit.ts'

describe('what a module imports', () => {
  const scout = new ImportScout(openPool(), () => performance.now())

  it.each([
    [
      'import a from "./a.js"\nexport * from "./b.js"\nexport { c } from "./c.js"\nimport "./a.js"',
      ['./a.js', './b.js', './c.js'],
    ],
    ['import d from "./d.json" with { type: "json" }', ['./d.json']],
    ['// import "./x.js"\nconst s = `import "./y.js"`; import("./z.js")', []],
    ['import __proto__ from "__proto__"', ['__proto__']],
    ['import "./\\u0061.js"', ['./a.js']],
    ['let let = 1; import "./a.js"', []],
    ['export default 1', []],
  ])('%j', (code, imports) => {
    expect(scout.importsOf(code)).toEqual(imports)
  })

  it('is found without running it, many times over', () => {
    for (let i = 0; i < 50; i += 1) {
      expect(scout.importsOf(`import "./${i}.js"; for (;;) {}; globalThis.ran = true`)).toEqual([`./${i}.js`])
    }
  })

  it('is asked only of what parses', () => {
    expect(
      ['', 'import "./a.js"; await 1', 'import x from "./a.js"; x = (', '`'].map((code) =>
        scout.parses(code),
      ),
    ).toEqual([true, true, false, false])
  })

  it('is nothing where a bound is reached', () => {
    expect(scout.importsOf(`import "./a.js"; ${'('.repeat(100_000)}`)).toEqual([])
    expect(scout.importsOf('import "./a.js"')).toEqual(['./a.js'])
  })
})
