/** Attacks by what programs import, and by what embedders are made to give. */
import { afterAll, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'
import { watchHost } from './watch-host.ts'

watchHost()
const runtime: Runtime = await openRuntime()
afterAll(() => runtime.close())

describe('hostile specifiers', () => {
  it('of a megabyte are refused, static and dynamic, and stay in the guest', async () => {
    const modules = {}
    const long = 'x'.repeat(2 ** 20)
    expect(await runtime.run(`import './${long}'`, { modules })).toMatchObject({
      status: 'failed',
      error: { code: 'denied' },
    })
    const outcome = await runtime.run(
      "export default await import('./' + 'x'.repeat(2 ** 20)).catch((e) => [e.code, e.message.length < 1000])",
      { modules },
    )
    expect(outcome).toMatchObject({ status: 'completed', value: ['denied', true] })
  })

  it('that are names of the language find what was given, and nothing else', async () => {
    const outcome = await runtime.run(
      "import own from './__proto__'\nimport c from 'constructor'\nexport default [own, c, await import('./toString').catch((e) => e.code)]",
      {
        modules: { './__proto__': 'export default 1', constructor: 'export default 2' },
      },
    )
    expect(outcome).toMatchObject({ status: 'completed', value: [1, 2, 'not_found'] })
  })

  it('that name modules of ours reach none', async () => {
    for (const name of [
      'caisson:start',
      'caisson:import["program.js","./a.js"]',
      'caisson:graph',
      'package:a',
      'program.js',
    ]) {
      const source = `export default await import(${JSON.stringify(name)}).catch((e) => e.code)`
      expect(await runtime.run(source, { modules: { './a.js': '1' } })).toMatchObject({
        status: 'completed',
        value: expect.stringMatching(/^(?:denied|not_found)$/),
      })
    }
  })

  it('by the hundred thousand end at a limit, and cost the host no memory', async () => {
    const before = process.memoryUsage().heapUsed
    const outcome = await runtime.run(
      "let n = 0\nfor (; n < 100_000; n++) import('./' + n + '.js').catch(() => {})\nn",
      { modules: {}, limits: { memoryBytes: 32 * 2 ** 20 } },
    )
    expect(outcome.status).toBe('exhausted')
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 2 ** 20)
  })
})

describe('hostile modules', () => {
  it('that lead to ever more of them end', async () => {
    let given = 0
    const outcome = await runtime.run("import './0.js'", {
      loadModule: (module) => {
        given += 1
        const n = Number(/\d+/.exec(module)?.[0])
        return `import './${2 * n + 1}.js'\nimport './${2 * n + 2}.js'`
      },
      limits: { fuel: 1e9 },
    })
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'denied', message: expect.stringContaining('2048') },
    })
    expect(given).toBeLessThan(4_200)
  })

  it('with ever more imports end', async () => {
    const many = Array.from({ length: 100_001 }, (_, i) => `import './${i}.js'`).join('\n')
    expect(await runtime.run(many, { modules: {} })).toMatchObject({
      status: 'failed',
      error: { code: expect.any(String) },
    })
  })

  it('cannot make the host slow or deep by what is parsed', async () => {
    const deep = ['('.repeat(50_000), 'a?(b,c='.repeat(5_000), '[`${'.repeat(5_000), 'x=>'.repeat(50_000)]
    for (const text of deep) {
      const result = await runtime.run("import './a.js'", { modules: { './a.js': text } })
      expect(result).toMatchObject({ status: expect.stringMatching(/^(?:failed|exhausted)$/) })
    }
  })

  it('cannot make the host search a long text once for each of thousands of imports', async () => {
    // Escapes: no import is found in the text as the engine tells it.
    const imports = Array.from({ length: 8_000 }, (_, i) => `import '\\x61${i}'`)
    const source = [...imports, `//${'x'.repeat(3_000_000)}`].join('\n')
    const begun = performance.now()
    const outcome = await runtime.run(source, { modules: { './a.js': '' }, limits: { wallMs: 60_000 } })
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'denied' } })
    // It was half a minute.
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  it('are parsed for no longer than their program may take, however often they have to be', async () => {
    const begins = 'a = [1, 2, 3]; f(a, b, c)\n'.repeat(40_000)
    const lines = 'a\n'.repeat(8)
    const source = `import './a.js'\n${begins}/*\n${lines}a // */`
    for (const options of [{ modules: { './a.js': '' } }, {}]) {
      const outcome = await runtime.run(source, { ...options, limits: { wallMs: 5 } })
      expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
      expect(outcome.usage.fuel).toBeLessThan(1_000)
    }
    const list = Array.from({ length: 40 }, (_, i) => [`./${i}.js`, `import './0.js'\n${begins}`] as const)
    const graph = list.map(([name]) => `import '${name}'`).join('\n')
    const outcome = await runtime.run(graph, {
      modules: Object.fromEntries(list),
      limits: { wallMs: 5 },
    })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'wall' })
    expect(outcome.usage.fuel).toBeLessThan(1_000)
  })

  it('do not see what stands for them, and cannot stand in for the host', async () => {
    const outcome = await runtime.run(
      `const mine = () => { throw new Error('mine') }
Promise.resolve = Promise.reject = Promise.prototype.then = Promise.prototype.catch = Promise.prototype.finally = mine
globalThis.caissonLoadModule = globalThis.caissonImportFailed = mine
const { a } = await import('./a.js')
const names = Object.getOwnPropertyNames(globalThis).filter((name) => name.startsWith('caisson'))
;[a, names]`,
      { modules: { './a.js': 'export const a = 1' } },
    )
    // The names that are seen are those that the program defined.
    expect(outcome).toMatchObject({
      status: 'completed',
      value: [1, ['caissonImportFailed', 'caissonLoadModule']],
    })
  })

  it('cannot call the host for what is not there to be imported', async () => {
    const outcome = await runtime.run(
      `const asked = []
for (const what of [undefined, 1, {}, { specifier: '../../etc/passwd', referrer: 'program.js' }, { specifier: './a.js', referrer: '../../x.js' }, { specifier: 'a', referrer: {} }]) {
  asked.push(await caissonLoadModule(what).then((x) => ['ok', x], (e) => e.code))
}
export { asked as default }
const never = () => import('./a.js')`,
      { modules: { './a.js': 'export const a = 1' } },
    )
    expect(outcome).toMatchObject({
      status: 'completed',
      value: [
        'invalid_arguments',
        'invalid_arguments',
        'invalid_arguments',
        'denied',
        ['ok', undefined],
        'invalid_arguments',
      ],
    })
  })

  it('are given once, whatever the embedder was made to hold', async () => {
    let reads = 0
    const modules = Object.defineProperty({}, './a.js', {
      enumerable: true,
      get: () => {
        reads += 1
        return `export default ${reads}`
      },
    }) as Record<string, string>
    expect(await runtime.run("import a from './a.js'\nexport default a", { modules })).toMatchObject({
      value: 1,
    })
    const proxy = new Proxy({ './a.js': 'export default 7' }, {})
    expect(await runtime.run("import a from './a.js'\nexport default a", { modules: proxy })).toMatchObject({
      value: 7,
    })
    const hostile = new Proxy(
      { source: 'x' },
      {
        get: () => {
          throw new Error('trap')
        },
      },
    )
    await expect(runtime.run('1', { modules: { './a.js': hostile } })).rejects.toThrow(/./)
    for (const source of [1, null, { source: 1 }, { source: '', type: 'wasm' }, ['x']]) {
      await expect(
        runtime.run('1', { modules: { './a.js': source as unknown as string } }),
      ).rejects.toMatchObject({
        code: 'invalid_argument',
      })
    }
  })

  it('with the name of the program are refused', async () => {
    await expect(
      runtime.run('export default 1', { modules: { './program.js': 'export default 2' } }),
    ).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { option: 'modules' },
    })
    await expect(runtime.run('1', { modules: { './x/../a.js': '', './a.js': '' } })).rejects.toMatchObject({
      code: 'invalid_argument',
    })
  })

  it('are never of a program that has a name of ours', async () => {
    for (const fileName of ['caisson:start', 'caisson:import["a","./a.js"]']) {
      await expect(
        runtime.run('await import("caisson:import{")', { fileName, modules: { './a.js': '' } }),
      ).rejects.toMatchObject({ code: 'invalid_argument', details: { option: 'fileName' } })
    }
  })

  it('with attributes that no guest knows are refused', async () => {
    const modules = { './a.js': 'export default 1', './d.json': '1' }
    for (const clause of ["with { type: 'css' }", "with { type: 'json' }", "with { kind: 'x' }"]) {
      expect(
        await runtime.run(`import a from './a.js' ${clause}\nexport default a`, { modules }),
      ).toMatchObject({
        status: 'failed',
        error: { code: 'denied' },
      })
    }
    expect(
      await runtime.run("import d from './d.json' with { type: 'json' }\nexport default d", { modules }),
    ).toMatchObject({ value: 1 })
  })

  it('with characters that the engine would cut off or change are refused', async () => {
    for (const text of ['export default 1\0; export const x = 1', 'export default "\ud800"']) {
      expect(await runtime.run("import './a.js'", { modules: { './a.js': text } })).toMatchObject({
        status: 'failed',
        error: { name: 'SyntaxError' },
      })
    }
  })

  it('that never come do not hold the run after its abort', async () => {
    const stop = new AbortController()
    const running = runtime.run("import './a.js'", {
      signal: stop.signal,
      loadModule: () => new Promise(() => {}),
    })
    stop.abort()
    expect(await running.catch((error: unknown) => error)).toMatchObject({})
  })
})
