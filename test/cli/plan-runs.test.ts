/** Runs of plans on the command line: proposed, approved, driven, decided over, killed, gone on with, looked at again. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { openRuntime } from '../../src/entry/node.ts'
import {
  cli,
  type Ended,
  type Folder,
  keptTools,
  makeFolder,
  OBEYED,
  type Setting,
  start,
} from './cli.testkit.ts'
import { flat } from './kept.testkit.ts'

const HEAD = 'format: plan/1\nname: shop\nversion: "1"\ngrants: [shop.price, shop.order, shop.fail]\n'
/** Looks a price up, asks, orders. What people read of it is hostile. */
const SHOP = `${HEAD}budget: { calls: 5 }
nodes:
  look: { kind: program, source: "return (await shop.price({ sku: input })).price", input: { $from: input }, grants: [shop.price] }
  agree: { kind: approval, question: "Order\\u001b[2J?", show: { price: { $from: look } } }
  order: { kind: call, capability: shop.order, input: { sku: { $from: input } }, after: [agree] }
output: { price: { $from: agree/value/price }, order: { $from: order } }
`
const HELLO =
  'format: plan/1\nname: hello\nversion: "1"\nnodes:\n  hi: { kind: program, source: "return input + 1", input: { $from: input } }\noutput: { $from: hi }\n'
const WAITS = `${HEAD}nodes:
  day: { kind: wait, event: next-day }
  order: { kind: call, capability: shop.order, input: { sku: { $from: day } }, compensate: { kind: call, capability: shop.order, input: { sku: undo } } }
  end: { kind: approval, question: "Well?", after: [order] }
output: { $from: order }
`
const TWO = `${HEAD}nodes:
  a: { kind: approval, question: "A?" }
  b: { kind: approval, question: "B?" }
  c: { kind: approval, question: "C?", after: [a, b] }
`
const TOOLS = ['--tools', 'tools.mjs']
const STORE = ['--store', 'runs']

let folder: Folder
beforeEach(() => {
  folder = makeFolder({
    'shop.yaml': SHOP,
    'hello.yaml': HELLO,
    'waits.yaml': WAITS,
    'two.yaml': TWO,
    'bad.yaml': 'format: plan/1\n',
    'fails.yaml': `${HEAD}nodes:\n  no: { kind: call, capability: shop.fail }\n`,
    'denied.yaml': `${HEAD.replace('shop.price', '{ capability: shop.price, only: { /sku: [a] } }')}nodes:\n  no: { kind: call, capability: shop.price, input: { sku: b } }\n`,
    'throws.yaml': `${HEAD}nodes:\n  no: { kind: program, source: "throw new TypeError('\\u001b[2Jno')" }\n`,
    'poor.yaml': `${HEAD}budget: { calls: 1 }\nnodes:\n  a: { kind: call, capability: shop.price, input: { sku: a } }\n  b: { kind: call, capability: shop.price, input: { sku: b }, after: [a] }\noutput: { $from: b }\n`,
    'tools.mjs': keptTools('sources'),
    'built.mjs': keptTools('build'),
  })
})
afterEach(() => folder.remove())

const caisson = (args: readonly string[], setting: Partial<Setting> = {}): Promise<Ended> =>
  cli(args, { cwd: folder.path, anyThread: true, ...setting })
const plan = (what: string, ...args: readonly string[]): Promise<Ended> =>
  caisson(['plan', what, ...args, ...STORE])
const resume = (...args: readonly string[]): Promise<Ended> =>
  caisson(['resume', ...args, ...STORE, ...TOOLS])
const json = async <T>(ended: Promise<Ended>): Promise<T> => JSON.parse((await ended).stdout) as T
const lastLine = <T>({ stdout }: Ended): T => JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T
interface ShownRun {
  readonly status: string
  readonly digest: string
  readonly point: string
  readonly events: number
  readonly requests: readonly { readonly digest: string; readonly node: string; readonly args: unknown }[]
  readonly doubts: readonly { readonly node: string; readonly capability: string }[]
  readonly next: readonly string[]
}
const show = (run: string): Promise<ShownRun> => json(caisson(['show', run, ...STORE, '--json']))
const done = (): readonly string[] => {
  const path = join(folder.path, 'done.log')
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}
/** Proposed and approved at once, and driven until it is at rest. */
const startAtOnce = (file: string, run: string, ...more: readonly string[]): Promise<Ended> =>
  plan('start', file, '--approve', '--run', run, ...TOOLS, ...more)
/** As a person does who reads what is shown, and copies what is proposed. */
const typed = (command: string): Promise<Ended> => caisson(command.split(' ').slice(1))

describe('a run of a plan', () => {
  it('is proposed, shown, approved, started, decided over and gone on with by what is said to do next', async () => {
    const proposed = await plan(
      'propose',
      'shop.yaml',
      '--run',
      'r',
      '--input',
      '"A-1"',
      '--by',
      'model',
      ...TOOLS,
    )
    expect(proposed.code).toBe(0)
    expect(proposed.stdout).toContain('may call   shop.price')
    expect(proposed.stdout).toContain('may spend  5 calls')
    expect(proposed.stdout).toContain('input      "A-1"')
    const { digest, next } = await show('r')
    expect(proposed.stdout).toContain(digest)
    const early = await plan('start', 'r', ...TOOLS)
    expect(early).toMatchObject({ code: 2 })
    expect(flat(early.stderr)).toContain(
      'The run is proposed, and nobody has approved it: it cannot be started.',
    )
    expect(next[0]).toBe(`caisson plan approve r --store runs --digest ${digest}`)
    expect((await typed(next[0] ?? '')).stderr).toContain('recorded: run r is approved')

    const started = await plan('start', 'r', ...TOOLS)
    expect(started.code).toBe(6)
    expect(started.stderr).toContain('look: started\n')
    expect(started.stderr).toContain('question   Order\\x1b[2J?')
    expect(started.stdout).toBe('')
    const asked = await show('r')
    expect(asked.requests).toMatchObject([{ node: 'agree', args: { price: 5 } }])
    expect((await typed(asked.next[0] ?? '')).code).toBe(0)
    const ended = await resume('r')
    expect(ended).toMatchObject({ code: 0, stdout: '{ order: "ordered A-1", price: 5 }\n' })
    expect(done()).toEqual(['price A-1', 'order A-1'])
    for (const { stdout, stderr } of [proposed, started, ended]) expect(stdout + stderr).not.toMatch(OBEYED)
  })

  it('is written down as done by who is named, else by who is logged in', async () => {
    await plan('propose', 'hello.yaml', '--run', 'r', '--input', '1', '--by', 'a model')
    const { digest } = await show('r')
    await plan('approve', 'r', '--digest', digest, '--comment', 'fine')
    const { stdout } = await caisson(['plan', 'events', 'r', ...STORE])
    expect(stdout).toContain('proposed by a model')
    expect(stdout).toContain(`approved by ${userInfo().username}: fine`)
    const bad = await plan('reject', 'r', '--by', 'a\nb', '--reason', 'x')
    expect(bad).toMatchObject({ code: 2 })
  })

  it('is shown whole before it begins: authority, budget, programs, input and tools', async () => {
    const proposed = await plan('propose', 'shop.yaml', '--run', 'r', '--input', '"\\u001b[2JA"', ...TOOLS)
    const shown = await caisson(['show', 'r', ...STORE])
    for (const { stdout } of [proposed, shown]) {
      expect(stdout).toContain('may call   shop.price')
      expect(stdout).toContain('may spend  5 calls')
      expect(stdout).toContain('program look\n      return (await shop.price({ sku: input })).price\n')
      expect(stdout).toContain('input      "\\u001b[2JA"')
      expect(stdout).toMatch(/tool {7}shop\.order {2}sha256:/)
      expect(stdout).not.toMatch(OBEYED)
    }
    const shownJson = await show('r')
    expect(shownJson).toMatchObject({
      grants: ['shop.price', 'shop.order', 'shop.fail'],
      input: '\u001b[2JA',
    })
    expect(shownJson).toMatchObject({ document: { name: 'shop' }, budget: { calls: 5 } })
    expect(shownJson).not.toHaveProperty('request')
    expect(shownJson).not.toHaveProperty('inDoubt')
  })

  it('that completed is shown with its output, shortened', async () => {
    await startAtOnce('hello.yaml', 'r', '--input', '"\\u001b[2J"')
    const { stdout } = await caisson(['show', 'r', ...STORE])
    expect(stdout).toContain('output     "\\u001b[2J1"')
    await startAtOnce('hello.yaml', 'long', '--input', JSON.stringify('a'.repeat(5_000)))
    expect((await caisson(['show', 'long', ...STORE])).stdout.length).toBeLessThan(4_000)
    expect(await show('long')).toMatchObject({ output: `${'a'.repeat(5_000)}1` })
  })

  it('never runs once it was rejected', async () => {
    await plan('propose', 'hello.yaml', '--run', 'r', '--input', '1', '--approve')
    expect((await plan('reject', 'r')).stderr).toContain('--reason')
    expect((await plan('reject', 'r', '--reason', 'not today')).code).toBe(0)
    expect((await plan('start', 'r')).code).toBe(5)
    expect((await caisson(['show', 'r', ...STORE])).stdout).toContain('not today')
  })

  it('starts at once only where that is said', async () => {
    const refused = await plan('start', 'hello.yaml')
    expect(refused.code).toBe(2)
    expect(flat(refused.stderr)).toContain('"hello.yaml" is a file')
    expect(flat(refused.stderr)).toContain('caisson plan propose hello.yaml --store runs')
    expect(await plan('start', 'hello.yaml', '--approve', '--input', '41')).toMatchObject({
      code: 0,
      stdout: '42\n',
    })
    expect((await plan('start', 'r', '--input', '41')).stderr).toContain(
      '--input goes with FILE and --approve',
    )
  })

  it('is not proposed where the plan is not right, and nothing is written', async () => {
    const { code, stderr } = await plan('propose', 'bad.yaml')
    expect(code).toBe(7)
    expect(stderr).toContain('bad.yaml:1:1')
    expect(existsSync(join(folder.path, 'runs'))).toBe(false)
    expect((await plan('propose', 'shop.yaml', ...TOOLS, '--run', 'r'.repeat(91))).code).toBe(2)
    expect((await plan('propose', 'shop.yaml')).code).toBe(2)
  })

  it.each([
    ['fails', 'fails.yaml', 3],
    ['is denied a call', 'denied.yaml', 5],
    ['throws', 'throws.yaml', 3],
    ['has spent its budget', 'poor.yaml', 4],
  ])('that %s says so by its exit code', async (_, file, code) => {
    const ended = await startAtOnce(file, 'r')
    expect(ended.code).toBe(code)
    expect(ended.stderr).not.toMatch(OBEYED)
  })

  it('that failed names the node that did, once', async () => {
    const { stderr } = await startAtOnce('fails.yaml', 'r')
    expect(stderr).toMatch(/^failed: no: (?!no: )/m)
  })

  it('whose budget is used up goes on with more of it', async () => {
    await startAtOnce('poor.yaml', 'r')
    const { point, status, next } = await show('r')
    expect(status).toBe('frozen')
    expect(next[0]).toContain('--add-calls N')
    expect(flat((await caisson(['show', 'r', ...STORE])).stdout)).toContain(
      'None of the calls of the budget are left for "b".',
    )
    expect(await resume('r', '--confirm', point, '--add-calls', '1')).toMatchObject({
      code: 0,
      stdout: '{ price: 5 }\n',
    })
    expect((await resume('r', '--fuel', '1')).code).toBe(2)
    expect((await resume('r', '--calls', '1')).stderr).toContain('--calls means nothing for a run of a plan')
  })

  it('tells every event and then how it ended, each a line of JSON', async () => {
    const ended = await startAtOnce('hello.yaml', 'r', '--input', '1', '--json')
    const lines = ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const events = lines.slice(0, -1)
    expect(events.map(({ type }) => type)).toEqual(['started', 'node_started', 'node_completed', 'completed'])
    expect(events.map(({ position }) => position)).toEqual([2, 3, 4, 5])
    expect(lines.at(-1)).toMatchObject({ status: 'completed', run: 'r', output: 2, store: 'runs', next: [] })
    const refused = await caisson(['plan', 'start', 'r', ...STORE, '--json'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.json()).toMatchObject({ status: 'refused', error: { code: 'invalid_transition' } })
  })

  it('shows its tree while it goes, where a person looks', async () => {
    const { stderr, stdout } = await cli(
      ['plan', 'start', 'hello.yaml', '--approve', '--input', '1', '--run', 'r', ...STORE],
      { cwd: folder.path, columns: 40 },
    )
    expect(stdout).toBe('2\n')
    expect(stderr).toMatch(/✓ hi {2}completed, /)
    expect(stderr).toContain('r  completed')
  })

  it('is brought to rest by Ctrl-C, and says how to go on', async () => {
    writeFileSync(join(folder.path, 'hang'), '')
    const interruptWhen = (): boolean => done().length > 0
    const args = ['plan', 'start', 'waits.yaml', '--approve', '--run', 'r', ...STORE, ...TOOLS]
    await caisson(args)
    await plan('send', 'r', 'next-day', '--value', '"D-4"')
    const stopped = await caisson(['resume', 'r', ...STORE, ...TOOLS], { interruptWhen })
    expect(stopped.code).toBe(130)
    expect(stopped.stderr).toContain('caisson resume r --store runs --confirm sha256:')
    rmSync(join(folder.path, 'hang'))
    const { status, doubts } = await show('r')
    expect(status).toBe('interrupted')
    expect(doubts).toEqual([])
  })
})

describe('requests of nodes', () => {
  it('are decided by the digest of exactly what is asked, and of no other', async () => {
    await startAtOnce('shop.yaml', 'r', '--input', '"A-1"')
    const [asked] = (await show('r')).requests
    const other = `sha256:${'0'.repeat(64)}`
    expect((await plan('approve', 'r', '--request', other)).code).toBe(5)
    expect((await plan('approve', 'r', '--request', 'agree')).code).toBe(2)
    expect((await plan('approve', 'r')).code).toBe(2)
    expect(
      (await plan('approve', 'r', '--request', asked?.digest ?? '', '--value', '{"price": 4}')).code,
    ).toBe(0)
    await plan('withdraw', 'r', '--request', asked?.digest ?? '')
    await plan(
      'approve',
      'r',
      '--request',
      asked?.digest ?? '',
      '--value',
      '{"price": 4}',
      '--comment',
      'dear',
    )
    const { stdout } = await caisson(['show', 'r', ...STORE])
    expect(stdout).toContain('comment    dear')
    expect(stdout).toContain('instead    { price: 4 }')
    expect(await show('r')).toMatchObject({
      requests: [{ decided: { comment: 'dear', value: { price: 4 } } }],
    })
    expect((await plan('reject', 'r', '--request', asked?.digest ?? '', '--reason', 'x')).code).toBe(5)
    expect((await plan('withdraw', 'r', '--request', asked?.digest ?? '')).code).toBe(0)
    expect(
      (await plan('approve', 'r', '--request', asked?.digest ?? '', '--value', '{"price": 3}')).code,
    ).toBe(0)
    expect((await resume('r')).stdout).toBe('{ order: "ordered A-1", price: 3 }\n')
  })

  it('that are rejected end the run with their reason', async () => {
    await startAtOnce('shop.yaml', 'r', '--input', '"A-1"')
    const [asked] = (await show('r')).requests
    await plan('reject', 'r', '--request', asked?.digest ?? '', '--reason', 'too dear')
    const ended = await resume('r')
    expect(ended.code).toBe(5)
    expect(ended.stderr).toContain('too dear')
    expect(done()).toEqual(['price A-1'])
  })

  it('are shown together with one digest for all of them, and decided by that', async () => {
    await startAtOnce('two.yaml', 'r')
    const looked = await plan('approve', 'r', '--request', 'all')
    expect(looked.code).toBe(6)
    expect(looked.stdout).toContain('together: 2 requests')
    const { digest, next } = await json<{ digest: string; next: string[] }>(
      plan('approve', 'r', '--request', 'all', '--json'),
    )
    const [first] = (await show('r')).requests
    await plan('approve', 'r', '--request', first?.digest ?? '')
    expect((await typed(next[0] ?? '')).code).toBe(5)
    expect((await show('r')).requests).toHaveLength(2)
    await plan('withdraw', 'r', '--request', first?.digest ?? '')
    expect((await plan('approve', 'r', '--request', 'all', '--digest', digest)).code).toBe(0)
    expect((await resume('r')).stderr).toContain('question   C?')
  })

  it('are rejected together by the command that is shown then, with its reason', async () => {
    await startAtOnce('two.yaml', 'r')
    const { next } = await json<{ next: string[] }>(
      plan('reject', 'r', '--request', 'all', '--reason', 'unwanted', '--json'),
    )
    expect((await typed(next[0] ?? '')).code).toBe(0)
    expect((await resume('r')).stderr).toContain('unwanted')
  })
})

describe('what happens around a run', () => {
  it('is sent to the nodes that wait for it, and undone when the run is cancelled', async () => {
    const waits = await startAtOnce('waits.yaml', 'r')
    expect(waits.code).toBe(6)
    expect(waits.stderr).toContain('caisson plan send r next-day --store runs')
    expect((await caisson(['runs', ...STORE])).stdout).toContain('\tthe event "next-day"\n')
    expect(await json(caisson(['runs', ...STORE, '--json']))).toMatchObject({
      runs: [{ events: ['next-day'] }],
    })
    expect((await plan('send', 'r', 'other', '--value', '1')).code).toBe(2)
    expect((await plan('send', 'r', 'next-day', '--value', '"D-4"')).code).toBe(0)
    expect((await resume('r')).code).toBe(6)
    expect(flat((await caisson(['cancel', 'r', ...STORE, '--reason', 'no'])).stderr)).toContain(
      'give them again',
    )
    const cancelled = await caisson(['cancel', 'r', ...STORE, ...TOOLS, '--reason', 'changed my mind'])
    expect(cancelled.code).toBe(0)
    expect(done()).toEqual(['order D-4', 'order undo'])
    expect((await caisson(['show', 'r', ...STORE])).stdout).toContain('changed my mind')
  })

  it('is told from any event on, by type and node', async () => {
    await startAtOnce('shop.yaml', 'r', '--input', '"A-1"')
    const all = (await plan('events', 'r')).stdout.trim().split('\n')
    expect(all[0]).toMatch(/^0\t\d{4}-.*Z\tproposed\t-\tproposed by /)
    expect((await plan('events', 'r', '--from', '2')).stdout.trim().split('\n')).toEqual(all.slice(2))
    const only = await plan('events', 'r', '--node', 'look', '--type', 'node_completed', '--json')
    expect(only.json()).toMatchObject({ node: 'look', type: 'node_completed', output: { value: 5 } })
    const wrong = await plan('events', 'r', '--type', 'node_complete')
    expect(wrong.stderr).toContain('Did you mean node_completed?')
    expect(all.join('\n').replaceAll('\t', ' ')).not.toMatch(OBEYED)
  })

  it('is listed without what belongs to the run, and made room of together', async () => {
    await startAtOnce('shop.yaml', 'r', '--input', '"A-1"')
    const listed = (await caisson(['runs', ...STORE])).stdout
    expect(listed).toMatch(/^r\twaiting\t[^\t]+\tplan shop 1\ta person\n$/)
    const all = (await caisson(['runs', ...STORE, '--all'])).stdout.trim().split('\n')
    expect(all).toHaveLength(2)
    const part = all.find((line) => line.startsWith('r.'))?.split('\t')[0] ?? ''
    const refused = await resume(part)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('caisson resume r --store runs')
    expect((await caisson(['doctor', ...STORE])).stdout).not.toContain('damaged')

    const kept = await caisson(['collect', ...STORE, '--ended', '0s', '--grace', '0s'])
    expect(kept.stdout).not.toContain('removed run')
    expect((await show('r')).status).toBe('waiting')
    await caisson(['cancel', 'r', ...STORE, ...TOOLS, '--reason', 'no'])
    expect((await caisson(['collect', ...STORE, '--ended', '0s', '--dry-run'])).stdout).toContain(
      'would remove run r\n',
    )
    expect((await caisson(['collect', ...STORE, '--ended', '0s', '--grace', '0s'])).stdout).toContain(
      'removed run r\n',
    )
    expect((await caisson(['runs', ...STORE, '--all'])).stdout).toBe('')
  })

  it('lets its programs hear what people wrote, without any tools for that', async () => {
    writeFileSync(
      join(folder.path, 'hears.yaml'),
      `${HEAD.replace('shop.order, ', '{ capability: shop.order, approve: true }, approvals.list, ')}nodes:
  main:
    kind: program
    source: "await shop.order({ sku: 'A' }); const [one] = await approvals.list({}); return [one.args.sku, one.edited, one.comment]"
    grants: [{ capability: shop.order, approve: true }, approvals.list]
output: { $from: main }
`,
    )
    expect((await startAtOnce('hears.yaml', 'r')).code).toBe(6)
    const { requests } = (await show('r')) as unknown as { requests: { digest: string }[] }
    const request = ['--request', requests[0]?.digest ?? '']
    await plan('approve', 'r', ...request, '--value', '{ "sku": "B" }', '--comment', 'B it is')
    expect(await resume('r')).toMatchObject({ code: 0, stdout: '["B", true, "B it is"]\n' })
  })

  it('tells a dry run how much room its plan, values and programs take, as much as it makes then', async () => {
    const input = JSON.stringify('x'.repeat(5_000))
    await startAtOnce('hello.yaml', 'first', '--input', input)
    await startAtOnce('hello.yaml', 'second', '--input', input)
    await startAtOnce('waits.yaml', 'waits')
    const collect = async (...more: readonly string[]): Promise<Record<string, unknown>> =>
      (await caisson(['collect', ...STORE, '--ended', '0s', '--json', ...more])).json() as never
    const young = await collect('--dry-run')
    expect(young).toMatchObject({ runs: ['first', 'second'], checkpoints: 0 })
    // Their logs go at once.
    expect(young.bytes).toBeGreaterThan(1_000)
    const told = await collect('--dry-run', '--grace', '0s')
    // What both stand on is counted once.
    expect(told).toMatchObject({ checkpoints: 3 })
    expect(told.bytes).toBeGreaterThan((young.bytes as number) + 10_000)
    expect(await collect('--grace', '0s')).toEqual({ ...told, dryRun: false })
  })

  it('leaves nothing for ever where a process died while it was proposed, cut or removed', async () => {
    await startAtOnce('hello.yaml', 'stays', '--input', '1')
    await startAtOnce('hello.yaml', 'cut', '--input', '1')
    const store = await openDirectoryRunStore(join(folder.path, 'runs'))
    const leave = async (run: string, dies: 'append' | 'setHead'): Promise<void> => {
      const dying = new Proxy(store, {
        get(target, name) {
          const method = Reflect.get(target, name)
          if (typeof method !== 'function') return method
          return (first: string, ...more: unknown[]) => {
            if (name === dies && first === run) throw new Error('the process is killed')
            return method.call(target, first, ...more)
          }
        },
      })
      await using runtime = await openRuntime({ store: dying })
      const nodes = { hi: { kind: 'program', source: '1' } } as const
      const plan = { format: 'plan/1', name: 'hello', version: '1', nodes } as const
      const proposing = runtime.propose(plan, { by: 'ann', run, erasable: true, domain: 'cli' })
      await expect(proposing).rejects.toMatchObject({ code: 'store_failed' })
    }
    await leave('key', 'setHead')
    await leave('head', 'append')
    await caisson(['compact', 'cut', ...STORE])
    const lease = await store.lease('cut.cut', 1_000)
    await store.remove('cut.cut', lease)
    await lease.release()
    expect(await store.runs()).toEqual(['cut', 'head', 'head.key', 'key.key', 'stays'])
    await store.close()
    const collected = (await caisson(['collect', ...STORE, '--ended', '1h', '--json'])).json()
    expect(collected).toMatchObject({ runs: ['cut', 'head', 'key'], leftAlone: [] })
    const after = await openDirectoryRunStore(join(folder.path, 'runs'))
    expect(await after.runs()).toEqual(['stays'])
    await after.close()
  })

  it('is looked at again, and taken over by a fork', async () => {
    await startAtOnce('shop.yaml', 'r', '--input', '"A-1"')
    const { point, events } = await show('r')
    expect((await caisson(['verify', 'r', ...STORE])).code).toBe(2)
    const whole = await caisson(['verify', 'r', ...STORE, ...TOOLS, '--known', `${events}=${point}`])
    expect(whole).toMatchObject({ code: 0 })
    expect(whole.stdout).toContain('1 program executed again')
    const lost = await caisson([
      'verify',
      'r',
      ...STORE,
      ...TOOLS,
      '--known',
      `${events + 1}=${point}`,
      '--json',
    ])
    expect(lost).toMatchObject({ code: 7 })
    expect(lost.json()).toMatchObject({ ok: false })
    const node = (await plan('events', 'r', '--node', 'look', '--type', 'node_completed', '--json')).json()
    const at = String((node as unknown as { position: number }).position + 1)
    const forked = await caisson(['fork', 'r', '--at', at, '--run', 'f', ...STORE, '--json'])
    expect(forked.code).toBe(0)
    const { next } = forked.json() as unknown as { next: string[] }
    expect(next[0]).toContain('--tools MODULE')
    const gone = await typed((next[0] ?? '').replace('MODULE', 'tools.mjs'))
    expect(gone.code).toBe(6)
    expect(done()).toEqual(['price A-1'])
    const taken = await caisson(['fork', 'r', '--at', at, '--run', 'f', ...STORE])
    expect([taken.code, flat(taken.stderr)]).toEqual([
      2,
      expect.stringContaining('caisson resume f --store runs'),
    ])
    for (const wrong of [String(events), '0', '99']) {
      const refused = await caisson(['fork', 'r', '--at', wrong, ...STORE])
      expect(refused.code).toBe(2)
      expect(flat(refused.stderr)).toContain('caisson plan events r --store runs numbers them')
    }
  })

  it('is no business of what goes on with programs', async () => {
    await plan('propose', 'hello.yaml', '--run', 'r')
    const store = await openDirectoryRunStore(join(folder.path, 'runs'))
    const runtime = await openRuntime({ store })
    const refusal = { code: 'invalid_argument', message: expect.stringContaining('planRun("r")') }
    await expect(runtime.resume('r')).rejects.toMatchObject(refusal)
    await expect(runtime.repeat('r')).rejects.toMatchObject(refusal)
    await runtime.close()
    await store.close()
  })
})

describe('what is refused', () => {
  it('is said in the words of the command line', async () => {
    await plan('propose', 'hello.yaml', '--run', 'r', '--input', '1')
    const wrong = await plan('approve', 'r', '--digest', `sha256:${'0'.repeat(64)}`)
    await startAtOnce('poor.yaml', 'poor')
    const unconfirmed = await resume('poor')
    expect(flat(wrong.stderr)).toContain('give the digest that was shown')
    expect(flat(unconfirmed.stderr)).toContain('go on from exactly there (--confirm POINT)')
    for (const { stderr } of [wrong, unconfirmed]) expect(stderr).not.toContain('`')
  })
})

describe('a run whose process is killed in the middle of a call', () => {
  it('goes on from the point that somebody saw, and what is in doubt is not done again', async () => {
    await startAtOnce('shop.yaml', 'r', '--input', '"A-1"')
    const [asked] = (await show('r')).requests
    await plan('approve', 'r', '--request', asked?.digest ?? '')
    writeFileSync(join(folder.path, 'hang'), '')
    const killed = start(['resume', 'r', ...STORE, '--tools', 'built.mjs'], folder.path)
    await killed.said('hanging')
    expect((await resume('r')).code).toBe(7)
    killed.signal('SIGKILL')
    await killed.end
    rmSync(join(folder.path, 'hang'))
    await leaseIsOver()

    const interrupted = await show('r')
    expect(interrupted.status).toBe('interrupted')
    expect((await resume('r')).code).toBe(6)
    const frozen = await resume('r', '--confirm', interrupted.point)
    expect(frozen.code).toBe(6)
    expect(frozen.stderr).toContain('order  call ')
    expect((await resume('r', '--confirm', interrupted.point, '--answer', 'order="ordered A-1"')).code).toBe(
      6,
    )
    const { point } = await show('r')
    expect((await resume('r', '--confirm', point)).code).toBe(6)
    const last = lastLine<{ status: string; output: unknown }>(
      await resume('r', '--confirm', point, '--answer', 'order="by hand"', '--json'),
    )
    expect(last).toMatchObject({ status: 'completed', output: { order: 'by hand', price: 5 } })
    expect(done()).toEqual(['price A-1', 'order A-1'])
  }, 60_000)

  /** Nobody holds the run any more. */
  async function leaseIsOver(): Promise<void> {
    while ((await show('r')).status !== 'interrupted')
      await new Promise((resolve) => setTimeout(resolve, 200))
  }
})
