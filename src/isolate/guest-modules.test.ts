import { describe, expect, it } from 'vitest'
import { LOAD_MODULE, type ModuleFile, type ModuleGraph } from '../machine/module-graph.ts'
import type { Turn } from '../machine/turn.ts'
import { FREELY, newIsolate, openPool, startOf } from './isolate.testkit.ts'

const pool = openPool()

function file(name: string, code: string, ...imports: readonly string[]): ModuleFile {
  return { name, code, imports: imports.map((one) => [`./${one}`, one] as const) }
}

function begin(
  source: string,
  graph: ModuleGraph,
  open = false,
): { turn: Turn; isolate: ReturnType<typeof newIsolate> } {
  const isolate = newIsolate(pool)
  const start = startOf(source, { capabilities: open ? [LOAD_MODULE] : [] })
  return { turn: isolate.start({ ...start, modules: graph }, FREELY), isolate }
}

function graphOf(imports: readonly string[], ...files: readonly ModuleFile[]): ModuleGraph {
  return { imports: imports.map((one) => [`./${one}`, one] as const), files }
}

describe('modules that are there from the start', () => {
  it('are imported, and the default export is the value', () => {
    const { turn } = begin(
      "import { b } from './b.js'\nexport default (x) => b + 1",
      graphOf(['b.js'], file('b.js', 'export const b = 41')),
    )
    expect(turn).toMatchObject({ status: 'completed', value: 42 })
  })

  it('may be a chain of a thousand', () => {
    const files = Array.from({ length: 1000 }, (_, i) =>
      i === 0
        ? file('m0.js', 'export default 1')
        : file(`m${i}.js`, `import x from './m${i - 1}.js'\nexport default x + 1`, `m${i - 1}.js`),
    )
    const { turn } = begin("import x from './m999.js'\nexport default x", graphOf(['m999.js'], ...files))
    expect(turn).toMatchObject({ status: 'completed', value: 1000 })
  })

  it('may import each other, and the program, while they wait', () => {
    const { turn } = begin(
      "import { a } from './a.js'\nexport const own = 1\nexport default await a()",
      graphOf(
        ['a.js'],
        file('b.js', "import { start } from './a.js'\nawait null\nexport const b = () => start + 1", 'a.js'),
        {
          name: 'a.js',
          code: "import { b } from './b.js'\nimport { own } from './program.js'\nexport const start = 40\nawait 1\nexport const a = async () => b() + own",
          imports: [
            ['./b.js', 'b.js'],
            ['./program.js', 'program.js'],
          ],
        },
      ),
    )
    expect(turn).toMatchObject({ status: 'completed', value: 42, unhandledRejections: [] })
  })

  it('report errors with file and position', () => {
    const { turn } = begin(
      "import './lib/n.js'",
      graphOf(['lib/n.js'], file('lib/n.js', '\nconst a = null\n  a.b.c')),
    )
    expect(turn).toMatchObject({
      status: 'failed',
      error: { name: 'TypeError', position: { file: 'lib/n.js', line: 3, column: 4 } },
      unhandledRejections: [],
    })
    expect(JSON.stringify(turn)).not.toContain('caisson:')
  })

  it('report errors after they waited, once', () => {
    const { turn } = begin("import './n.js'", graphOf(['n.js'], file('n.js', 'await null\nnull.x')))
    expect(turn).toMatchObject({
      status: 'failed',
      error: { name: 'TypeError', position: { file: 'n.js', line: 2 } },
      unhandledRejections: [],
    })
  })

  it('report what the parser does not like, with file and position', () => {
    const { turn } = begin("import './n.js'", graphOf(['n.js'], file('n.js', 'let a = 1\nlet b = (')))
    expect(turn).toMatchObject({
      status: 'failed',
      error: {
        name: 'SyntaxError',
        message: 'unexpected end of the program',
        position: { file: 'n.js', line: 2 },
      },
    })
  })
})

describe('modules that are asked for', () => {
  const program =
    "const { b } = await import('./b.js')\nconst again = await import('./b.js')\nexport default [b, again.b === b]"

  it('come from the host, once', () => {
    const { turn, isolate } = begin(program, graphOf([]), true)
    expect(turn).toMatchObject({
      status: 'waiting',
      calls: [{ id: 1, capability: LOAD_MODULE, args: { specifier: './b.js', referrer: 'program.js' } }],
    })
    const value = {
      name: 'b.js',
      files: [
        file('c.js', 'export default 1'),
        file('b.js', "import c from './c.js'\nexport const b = { c }", 'c.js'),
      ],
    }
    const next = isolate.settle([{ id: 1, ok: true, value }], 0, FREELY)
    expect(next).toMatchObject({ status: 'completed', value: [{ c: 1 }, true] })
  })

  it('come also after the guest was parked', () => {
    const { isolate } = begin(program, graphOf([]), true)
    const captured = isolate.capture()
    const other = newIsolate(pool)
    const { limits } = startOf('')
    other.restore({ ...captured, capabilities: [{ name: LOAD_MODULE, sync: false }], limits })
    const value = { name: 'b.js', files: [file('b.js', 'export const b = 2')] }
    expect(other.settle([{ id: 1, ok: true, value }], 0, FREELY)).toMatchObject({
      status: 'completed',
      value: [2, true],
    })
  })

  it('are refused with what the host says', () => {
    const { isolate } = begin(
      "export default await import('./b.js').catch((e) => [e.code, e.message])",
      graphOf([]),
      true,
    )
    const next = isolate.settle(
      [{ id: 1, ok: false, error: { code: 'not_found', message: 'No.' } }],
      0,
      FREELY,
    )
    expect(next).toMatchObject({ status: 'completed', value: ['not_found', 'No.'] })
  })

  it('are refused with a hint where nobody gives any', () => {
    const { turn } = begin(
      "const f = (x) => import(x).catch((e) => [e instanceof Error, e.code, e.message])\nexport default [await f('./b.js'), await f('node:fs'), await f('https://x.y/z.js'), await f('x'.repeat(1e6))]",
      graphOf([]),
    )
    expect(turn).toMatchObject({
      status: 'completed',
      value: [
        [true, 'not_found', expect.stringContaining('loadModule')],
        [
          true,
          'not_found',
          '`fs` is not available in a guest; grant files.readText and call files.readText({ path }).',
        ],
        [true, 'denied', expect.stringContaining('URL')],
        [true, 'denied', expect.stringContaining('1024')],
      ],
    })
  })
})
