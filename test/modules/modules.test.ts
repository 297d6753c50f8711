import { describe, expect, it } from 'vitest'
import { capability, openRuntime, type Runtime } from '../../src/entry/node.ts'

const runtime: Runtime = await openRuntime()

describe('a program of several modules', () => {
  it('finds them by their paths, against the module that imports them', async () => {
    const outcome = await runtime.run(
      "import { total } from './lib/total.js'\nimport data from './data.json'\nexport default total(data)",
      {
        modules: {
          './lib/total.js':
            "import { add } from '../math/add.js'\nexport const total = (list) => list.reduce(add, 0)",
          './math/add.js': 'export function add(a, b) { return a + b }',
          './data.json': '[1, 2, 3]',
        },
      },
    )
    expect(outcome).toMatchObject({ status: 'completed', value: 6 })
  })

  it('finds them where a function gives them, each once', async () => {
    const asked: string[] = []
    const outcome = await runtime.run(
      "import a from './a.js'\nimport b from './b.js'\nimport same from './x/../a.js'\nexport default [a === same, b]",
      {
        loadModule: async (module, { referrer }) => {
          asked.push(`${module} for ${referrer}`)
          return { './a.js': 'export default {}', './b.js': "import './a.js'\nexport default 2" }[module]
        },
      },
    )
    expect(outcome).toMatchObject({ status: 'completed', value: [true, 2] })
    expect(asked).toEqual(['./a.js for ./program.js', './b.js for ./program.js'])
  })

  it('takes JSON with the attribute and without it, whatever its keys are', async () => {
    const json = '{ "__proto__": { "x": 1 }, "\\u005f_proto__": 2, "a": [1, "\\"__proto__\\": 3"] }'
    const outcome = await runtime.run(
      "import a from './d.json' with { type: 'json' }\nimport b from './d.json'\nexport default [a === b, Object.keys(a), Object.getPrototypeOf(a) === Object.prototype, a.a]",
      { modules: { './d.json': json } },
    )
    expect(outcome).toMatchObject({
      status: 'completed',
      value: [true, ['__proto__', 'a'], true, [1, '"__proto__": 3']],
    })
  })

  it('may be a thousand modules, in a chain or side by side', async () => {
    const modules: Record<string, string> = {}
    for (let i = 0; i < 500; i += 1) {
      modules[`./chain/${i}.js`] =
        i === 0 ? 'export default 0' : `import x from './${i - 1}.js'\nexport default x + 1`
      modules[`./side/${i}.js`] = 'export default 1'
    }
    const sides = Array.from({ length: 500 }, (_, i) => `import s${i} from './side/${i}.js'`).join('\n')
    const outcome = await runtime.run(
      `import chain from './chain/499.js'\n${sides}\nexport default chain + s499`,
      {
        modules,
      },
    )
    expect(outcome).toMatchObject({ status: 'completed', value: 500 })
  })

  it('may be a cycle that awaits at its top: a binding is there when its module has set it', async () => {
    const modules = {
      './a.js': `import { b, later } from './b.js'
        export const a = await Promise.resolve('a')
        export const seen = [b, later()]`,
      './b.js': `import { a } from './a.js'
        export const b = await Promise.resolve('b')
        export let early
        try { early = a } catch (error) { early = error.name }
        export const later = () => a`,
    }
    const source =
      "import { seen } from './a.js'\nimport { early } from './b.js'\nexport default [...seen, early]"
    const outcome = await runtime.run(source, { modules })
    expect(outcome).toMatchObject({ status: 'completed', value: ['b', 'a', 'ReferenceError'] })
  })

  it('says that it waits for itself where a module awaits the import of one that awaits it', async () => {
    const modules = {
      './x.js': "import './y.js'\nexport const x = 1",
      './y.js': "await import('./x.js')",
    }
    const outcome = await runtime.run("import { x } from './x.js'\nexport default x", { modules })
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'stalled' } })
  })

  it('says so where one was given under the key of a package', async () => {
    const outcome = await runtime.run("import './a.js'", { modules: { 'a.js': '' } })
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'not_found', message: expect.stringContaining('give it under the key "./a.js"') },
    })
  })

  it('reports a module that dereferences null', async () => {
    const outcome = await runtime.run("import './n.js'\nexport default 1", {
      modules: { './n.js': 'const a = null\nexport default a.b.c' },
    })
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { name: 'TypeError', position: { file: 'n.js', line: 2 } },
      unhandledRejections: [],
    })
  })

  it('has an import map', async () => {
    const outcome = await runtime.run(
      "import a from 'lib/a.js'\nimport { b } from 'b'\nexport default [a, b]",
      {
        modules: {
          './vendor/lib-2/a.js': "export { b as default } from 'b'",
          './b1.js': 'export const b = 1',
          './b2.js': 'export const b = 2',
        },
        importMap: {
          imports: { 'lib/': './vendor/lib-2/', b: './b1.js' },
          scopes: { './vendor/': { b: './b2.js' } },
        },
      },
    )
    expect(outcome).toMatchObject({ status: 'completed', value: [2, 1] })
  })

  it('can import itself from a module', async () => {
    const outcome = await runtime.run(
      "import { f } from './a.js'\nexport const g = () => 7\nexport default f()",
      {
        fileName: '/somewhere/main.mjs',
        modules: { './a.js': "import { g } from './main.mjs'\nexport const f = () => g()" },
      },
    )
    expect(outcome).toMatchObject({ status: 'completed', value: 7 })
  })
})

describe('an import of what a module does not export', () => {
  const modules = {
    './a.js': 'export const a = 1, also = 2',
    './b.js': "import { missing as a } from './a.js'\nexport const b = a",
    './c.js': "export {\n  a,\n  nothing,\n} from './a.js'",
    './d.ts': "enum E { A }\nimport { b, none } from './b2.js'\nexport const d: number = none",
    './b2.js': 'export const b = 1',
  }
  it.each([
    ["import { a, nope } from './a.js'", 'nope', './a.js', 'program.js', 1, 13],
    ["import {\n  also as a,\n  nope as b,\n} from './a.js'", 'nope', './a.js', 'program.js', 3, 3],
    ["import a from './a.js'", 'default', './a.js', 'program.js', 1, 8],
    ["import './b.js'", 'missing', './a.js', 'b.js', 1, 10],
    ["import './c.js'", 'nothing', './a.js', 'c.js', 3, 3],
    ["import './d.ts'", 'none', './b2.js', 'd.ts', 2, 13],
    ["console.log(1)\nawait import('./b.js')", 'missing', './a.js', 'b.js', 1, 10],
  ])('is an error with its place: %j', async (source, name, module, file, line, column) => {
    const outcome = await runtime.run(source, { modules })
    expect(outcome).toMatchObject({
      status: 'failed',
      error: {
        name: 'SyntaxError',
        message: `Could not find export '${name}' in module '${module}'`,
        position: { file, line, column },
      },
    })
  })

  it('may be forged, which only places a text', async () => {
    const forged = `throw new SyntaxError("Could not find export 'a' in module 'a.js'")`
    expect(await runtime.run(`import './a.js'\n${forged}`, { modules })).toMatchObject({
      error: { name: 'SyntaxError', position: { line: 2 } },
    })
  })
})

describe('an import that leads nowhere', () => {
  it.each([
    ['./a.js', 'not_found', 'there is no module "a.js"'],
    ['lodash', 'not_found', 'no package of this name'],
    [
      'fs',
      'not_found',
      '`fs` is not available in a guest; grant files.readText and call files.readText({ path }).',
    ],
    ['node:fs/promises', 'not_found', 'grant files.read'],
    ['node:sqlite', 'not_found', 'grant a capability'],
    ['../a.js', 'denied', 'it leads out of the root'],
    ['/etc/passwd', 'denied', 'it is absolute'],
    ['file:///etc/passwd', 'denied', 'it is a URL'],
    ['data:text/javascript,1', 'denied', 'it is a URL'],
    ['./a%2e.js', 'denied', 'it has the character "%"'],
    ['./', 'denied', 'it names a folder'],
    ['', 'denied', 'it is empty'],
  ])('%j', async (specifier, code, message) => {
    const source = `const a = 1\nimport ${JSON.stringify(specifier)}\nexport default globalThis.ran = true`
    expect(await runtime.run(source, { modules: {} })).toMatchObject({
      status: 'failed',
      error: {
        code,
        message: expect.stringContaining(message),
        position: { file: 'program.js', line: 2, column: 8 },
      },
    })
    const dynamic = `export default await import(${JSON.stringify(specifier)}).catch((e) => [e.code, e.message])`
    expect(await runtime.run(dynamic, { modules: {} })).toMatchObject({
      status: 'completed',
      value: [code, expect.stringContaining(message)],
    })
  })

  it.each([
    ['./lib/a', './lib/a.js'],
    ['./lib/b.js', './lib/b.ts'],
    ['./data', './data.json'],
    ['./lib', './lib/index.ts'],
    ['lib/a.js', './lib/a.js'],
    ['data', './data.json'],
  ])('says what was meant: %j', async (specifier, meant) => {
    const modules = { './lib/a.js': '', './lib/b.ts': '', './data.json': '1', './lib/index.ts': '' }
    for (const source of [`import '${specifier}'`, `await import('${specifier}')`]) {
      expect(await runtime.run(source, { modules })).toMatchObject({
        error: { code: 'not_found', message: expect.stringMatching(new RegExp(`; write "${meant}"\\.$`)) },
      })
    }
  })

  it('says where, also for import() that is found wrong while the program runs', async () => {
    const modules = {
      './a.js': "export const f = async () => {\n  await null\n  await import('./nowhere.js')\n}",
    }
    for (const [source, file, line, column] of [
      ["console.log('before')\nconst a =  await import('./nowhere.js')\na", 'program.js', 2, 25],
      ["await null; return  await import('./nowhere.js')", 'program.js', 1, 34],
      ["console.log('before')\n await import('node:fs')", 'program.js', 2, 15],
      ["import { f } from './a.js'\nexport default await f()", 'a.js', 3, 16],
      ["const { f } = await import('./a.js')\nawait f()", 'a.js', 3, 16],
    ] as const) {
      expect(await runtime.run(source, { modules }), source).toMatchObject({
        status: 'failed',
        error: { code: 'not_found', position: { file, line, column } },
      })
    }
    // Where nobody can say it, nothing wrong is said.
    const computed = await runtime.run("console.log(1)\nawait import('./' + 'no.js')", { modules })
    expect(computed).toMatchObject({ status: 'failed', error: { code: 'not_found' } })
    expect(computed.status === 'failed' && computed.error.position).toBeUndefined()
  })

  it('is work that the guest pays for: a source that is searched costs fuel by its length', async () => {
    const fuelOf = async (padding: number): Promise<number> => {
      const loop = 'for (let i = 0; i < 100; i++) import("node:x" + i).catch(() => {})'
      const { usage } = await runtime.run(`${loop}\n// ${'-'.repeat(padding)}`, { modules: {} })
      return usage.fuel
    }
    expect((await fuelOf(100_000)) - (await fuelOf(0))).toBeGreaterThan(100 * 100_000)
  })

  it('names the capability that stands for it, where that was not granted', async () => {
    const files = capability({ name: 'files.readText', description: 'r', effect: 'read', invoke: () => '' })
    const own = await openRuntime({ capabilities: [files] })
    expect(await own.run("import { readFileSync } from 'fs'")).toMatchObject({
      hint: "files.readText exists and this guest has no grant for it: add 'files.readText' to grants.",
    })
    await own.close()
  })

  it('says what to do where no modules were given', async () => {
    for (const source of ["import './a.js'", "await import('./a.js')"]) {
      expect(await runtime.run(source)).toMatchObject({
        status: 'failed',
        error: { code: 'not_found', message: expect.stringContaining('options modules and loadModule') },
      })
    }
  })

  it('shows the module that has it', async () => {
    const outcome = await runtime.run("import './lib/a.js'", {
      modules: { './lib/a.js': "\n  export * from './b.js'" },
    })
    expect(outcome).toMatchObject({
      status: 'failed',
      error: {
        code: 'not_found',
        message: 'import "./b.js" in lib/a.js found nothing: there is no module "lib/b.js".',
        position: { file: 'lib/a.js', line: 2, column: 17 },
      },
    })
  })

  it('keeps what the function of the host threw with the host', async () => {
    const failures: unknown[] = []
    const own = await openRuntime({ onCapabilityError: ({ cause }) => failures.push(cause) })
    const loadModule = (): string => {
      throw new Error('secret path')
    }
    const outcome = await own.run("import './a.js'", { loadModule })
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'capability_failed' } })
    expect(JSON.stringify(outcome)).not.toContain('secret')
    const later = await own.run("export default await import('./a.js').catch((e) => e.code)", { loadModule })
    expect(later).toMatchObject({ value: 'capability_failed' })
    expect(failures.filter((cause) => String(cause).includes('secret'))).toHaveLength(2)
    await own.close()
  })

  it('is JSON that is none, with its place', async () => {
    expect(
      await runtime.run("import d from './d.json'", { modules: { './d.json': '{\n  "a": }' } }),
    ).toMatchObject({
      status: 'failed',
      error: { name: 'SyntaxError', position: { file: 'd.json', line: 2 } },
    })
  })
})

describe('import() of what was not there from the start', () => {
  const modules = {
    './a.js': "import { b } from './b.js'\nexport const a = b + 1",
    './b.js': 'globalThis.times = (globalThis.times ?? 0) + 1\nexport const b = 1',
  }

  it('asks the host, in any form of program', async () => {
    for (const source of [
      "const { a } = await import('./a.js'); a",
      "return (await import('./a.js')).a",
      "async () => (await import('./a.js')).a",
      "export default (await import('./a.js')).a",
    ]) {
      expect(await runtime.run(source, { modules })).toMatchObject({
        status: 'completed',
        value: 2,
        usage: { calls: 1 },
      })
    }
  })

  it('evaluates each module once', async () => {
    const source =
      "const [x, y] = await Promise.all([import('./a.js'), import('./b.js')])\nconst again = await import('./a.js')\nexport default [x === again, y.b, times]"
    expect(await runtime.run(source, { modules })).toMatchObject({ status: 'completed', value: [true, 1, 1] })
  })

  it('works after the guest was parked, and in another process', async () => {
    const guest = await runtime.start("const m = await import('./a.js')\nexport default m.a", { modules })
    const checkpoint = await guest.checkpoint()
    guest.dispose()
    const other = await openRuntime()
    const restored = await other.restore(checkpoint, { modules })
    expect(await restored.finish()).toMatchObject({ status: 'completed', value: 2 })
    await expect(other.restore(checkpoint)).rejects.toMatchObject({
      code: 'checkpoint_refused',
      message: expect.stringContaining('option modules or loadModule'),
    })
    await other.close()
  })

  it('rejects with the error of the module, as often as it is asked', async () => {
    const source =
      "const f = () => import('./bad.js').catch((e) => [e.name, e.message])\nexport default [await f(), await f()]"
    const outcome = await runtime.run(source, { modules: { './bad.js': 'null.x' } })
    expect(outcome).toMatchObject({
      status: 'completed',
      value: [
        ['TypeError', expect.any(String)],
        ['TypeError', expect.any(String)],
      ],
      unhandledRejections: [],
    })
    const unparsable = await runtime.run(source, { modules: { './bad.js': 'let let = 1' } })
    expect(unparsable).toMatchObject({
      value: [
        ['SyntaxError', expect.any(String)],
        ['SyntaxError', expect.any(String)],
      ],
    })
  })

  it('is no way around the limit of calls', async () => {
    const source = "for (let i = 0; ; i++) await import('./' + i + '.js').catch(() => {})"
    expect(await runtime.run(source, { modules, limits: { calls: 20 } })).toMatchObject({
      status: 'exhausted',
      limit: 'calls',
    })
  })
})
