/** Preview 2 as a real component finds it through jco's glue, and its interfaces called as glue calls them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type {
  WasiHost,
  WasiHttpAnswer,
  WasiHttpRequest,
  WasiTurns,
  WasiWorld,
} from '../../../src/ports/wasi-host.ts'
import { refusalOf, type Transpiled, transpile } from '../../../test/samples/transpiled.ts'
import { createWasiMemoryTree } from '../files/memory-tree.ts'
import { openWasiHost } from '../wasi-host.ts'
import { testClock, testRandom, testTurns, testWorld } from '../wasi-world.testkit.ts'

const PROBE = join(import.meta.dirname, '../../../guest/samples/built/wasi-probe-c.wasm')

let probe: Transpiled

beforeAll(async () => {
  probe = await transpile(readFileSync(PROBE), 'probe')
})

interface Started {
  readonly host: WasiHost
  readonly run: (action: string) => string
}

async function start(world: Partial<WasiWorld> = {}, turns: Partial<WasiTurns> = {}): Promise<Started> {
  const host = openWasiHost(testWorld(world), testTurns(turns))
  const guest = await probe.instantiate(host.preview2(probe.imports))
  return { host, run: guest.run as (action: string) => string }
}

const out = ({ host }: Started): string => new TextDecoder().decode(host.stdout.bytes)

describe('a component', () => {
  it('gets what was granted, under the ids that it asks for', async () => {
    const tree = createWasiMemoryTree({ files: { a: 'content', 'd/x': '', 'd/y': '' } })
    const clock = testClock()
    const guest = await start(
      {
        env: { GIVEN: 'yes' },
        stdin: new TextEncoder().encode('typed'),
        directories: [{ guestPath: '/data', tree, writable: true }],
        clock,
        random: testRandom(),
      },
      {
        wait: ({ untilNs = 0n }) => {
          clock.moveTo(untilNs)
          return 'ready'
        },
      },
    )
    expect(guest.host.missing(probe.imports.map((module) => ({ module })))).toEqual([])
    expect(guest.run('env GIVEN')).toBe('yes')
    expect(guest.run('stdin')).toBe('typed')
    expect(guest.run('stdin')).toBe('')
    expect([guest.run('print hello'), out(guest)]).toEqual(['printed', 'hello\n'])
    expect(guest.run('read /data/a')).toBe('content')
    expect(guest.run('write /data/new')).toBe('written')
    expect(new TextDecoder().decode(tree.files().get('new'))).toBe('written by a guest\n')
    expect(
      guest
        .run('list /data/d')
        .split('\n')
        .filter((name) => !/^\.*$/.test(name)),
    ).toEqual(['x', 'y'])
    expect(guest.run('time')).toBe('1700000000')
    expect(Number(guest.run('sleep 60000'))).toBe(60_000)
    expect(guest.run('random')).toMatch(/^[\da-f]{16}$/)
    expect(refusalOf(() => guest.run('read /etc/passwd'))).toBeTypeOf('string')
    expect(refusalOf(() => guest.run('read /data/../a'))).toBeTypeOf('string')
  })

  it('with nothing granted fails inside, or is halted where its interface has no error', async () => {
    const guest = await start()
    expect(guest.host.missing(probe.imports.map((module) => ({ module }))).map(({ grant }) => grant)).toEqual(
      expect.arrayContaining(['clock', 'random']),
    )
    expect(guest.run('print still')).toBe('printed')
    expect(refusalOf(() => guest.run('read /x'))).toBeTypeOf('string')
    try {
      guest.run('random')
    } catch {
      // Whatever it makes of no randomness.
    }
    expect(guest.host.end).toMatchObject({ kind: 'denied', grant: 'random' })
    const denied = await start()
    try {
      denied.run('time')
    } catch {
      // Whatever it makes of no time.
    }
    expect(denied.host.end).toMatchObject({
      kind: 'denied',
      grant: 'clock',
      import: 'wasi:clocks/wall-clock',
    })
  })

  it('exits, and the host lives: an outcome, and nothing has an effect afterwards', async () => {
    const guest = await start()
    expect(() => guest.run('exit 7')).toThrow(WebAssembly.RuntimeError)
    expect(guest.host.end).toMatchObject({ kind: 'exit' })
    try {
      guest.run('print more')
    } catch {
      // It may also trap.
    }
    expect(out(guest)).toBe('')
  })

  it('stays apart from another with other grants, whoever is called when', async () => {
    const [a, b] = await Promise.all([start({ env: { WHO: 'a' } }), start({ env: { WHO: 'b' } })])
    for (const round of [1, 2, 3]) {
      expect([a.run('env WHO'), b.run('env WHO')], `${round}`).toEqual(['a', 'b'])
      a.run('print from a')
    }
    expect([out(a).length, out(b).length]).toEqual([21, 0])
  })

  it('can be called 2,000 times, and holds as many resources as after the first', async () => {
    const tree = createWasiMemoryTree({ files: { a: 'content' } })
    const guest = await start({ directories: [{ guestPath: '/', tree }] })
    guest.run('read /a')
    const count = (): number => guest.host.capture().resources.length
    const first = count()
    for (let round = 0; round < 2_000; round += 1) guest.run('read /a')
    expect(count()).toBe(first)
  })
})

// biome-ignore lint/suspicious/noExplicitAny: interfaces as glue sees them, without types
type Interfaces = Record<string, any> // oxlint-disable-line typescript/no-explicit-any

const IDS = [
  'wasi:io/streams@0.2.6',
  'wasi:io/poll',
  'wasi:cli/stdin',
  'wasi:cli/stdout',
  'wasi:clocks/monotonic-clock@0.2.0',
  'wasi:filesystem/preopens',
  'wasi:http/types@0.2.3',
  'wasi:http/outgoing-handler@0.2.3',
  'wasi:sockets/tcp-create-socket',
  'wasi:sockets/ip-name-lookup',
  'wasi:random/random',
]

describe('the interfaces', () => {
  const openAll = (world: Partial<WasiWorld> = {}, turns: Partial<WasiTurns> = {}) => {
    const host = openWasiHost(testWorld(world), testTurns(turns))
    return { host, at: host.preview2([...IDS, 'other:thing/x']) as unknown as Interfaces }
  }

  it('have exactly the ids that were asked for', () => {
    expect(Object.keys(openAll().at).sort()).toEqual([...IDS].sort())
  })

  it('deny sockets by the code for it, and name them as missing', () => {
    const { host, at } = openAll()
    expect(refusalOf(() => at['wasi:sockets/tcp-create-socket'].createTcpSocket('ipv4'))).toBe(
      'access-denied',
    )
    expect(refusalOf(() => at['wasi:sockets/ip-name-lookup'].resolveAddresses({}, 'a'))).toBe('access-denied')
    expect(
      host.missing([
        { module: 'wasi:sockets/tcp@0.2.0' },
        { module: 'wasi:new/thing' },
        { module: 'own:x/y' },
      ]),
    ).toEqual([
      { module: 'wasi:sockets/tcp@0.2.0', grant: 'sockets' },
      { module: 'wasi:new/thing', grant: 'unknown' },
    ])
  })

  it('end a read at the end of input, and give back what was dropped', () => {
    const { host, at } = openAll({ stdin: new Uint8Array([1, 2, 3]) })
    const stream = at['wasi:cli/stdin'].getStdin()
    expect([...stream.read(2n), ...stream.blockingRead(99n)]).toEqual([1, 2, 3])
    expect(refusalOf(() => stream.read(1n))).toEqual({ tag: 'closed' })
    stream[Symbol.dispose]()
    stream[Symbol.dispose]()
    expect(host.capture().resources).toEqual([])
  })

  it('halt a guest that holds more resources than it may', () => {
    const { host, at } = openAll({ limits: { ...testWorld().limits, resources: 3 } })
    for (let made = 0; made < 4; made += 1) at['wasi:cli/stdout'].getStdout()
    expect(host.end).toEqual({ kind: 'limit', limit: 'resources' })
  })

  it('suspend a poll, and answer it when it is called again', () => {
    const clock = testClock()
    let came: 'suspended' | 'ready' = 'suspended'
    const waits: unknown[] = []
    const { at } = openAll(
      { clock },
      {
        wait: (until) => {
          waits.push(until)
          return came
        },
      },
    )
    const timer = at['wasi:clocks/monotonic-clock@0.2.0'].subscribeDuration(1_000_000n)
    const later = at['wasi:clocks/monotonic-clock@0.2.0'].subscribeDuration(9_000_000n)
    expect([...at['wasi:io/poll'].poll([timer, later])]).toEqual([])
    came = 'ready'
    clock.moveTo(clock.position() + 1_000_000n)
    expect([...at['wasi:io/poll'].poll([timer, later])]).toEqual([0])
    expect(waits).toEqual([{ requests: [], untilNs: expect.any(BigInt) }])
  })

  it('bring resources back under their numbers', () => {
    const world = (): Partial<WasiWorld> => ({
      directories: [
        { guestPath: '/', tree: createWasiMemoryTree({ files: { a: 'abcdef' } }), writable: true },
      ],
      stdin: new Uint8Array([1, 2]),
      clock: testClock(),
    })
    const before = openAll(world())
    const [[root]] = before.at['wasi:filesystem/preopens'].getDirectories()
    const file = root.openAt({}, 'a', {}, { read: true, write: true })
    const stream = file.readViaStream(1n)
    const sink = file.appendViaStream()
    before.at['wasi:clocks/monotonic-clock@0.2.0'].subscribeDuration(5n)
    expect(new TextDecoder().decode(stream.read(2n))).toBe('bc')
    const state = structuredClone(before.host.capture())
    const after = openWasiHost(testWorld(world()), testTurns(), state)
    expect(after.capture()).toEqual(state)
    const again = (resource: object): Interfaces =>
      after.resource(before.host.resourceId(resource) ?? 0) as Interfaces
    again(sink).write(new TextEncoder().encode('!'))
    expect(new TextDecoder().decode(again(stream).read(9n))).toBe('def!')
    expect(new TextDecoder().decode(again(file).read(9n, 0n)[0])).toBe('abcdef!')
  })
})

describe('HTTP that goes out', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  const ask = (answer: WasiHttpAnswer | undefined, turns: Partial<WasiTurns> = {}) => {
    const sent: WasiHttpRequest[] = []
    const dropped: number[] = []
    let there: WasiHttpAnswer | undefined
    const http = {
      send: (request: WasiHttpRequest) => sent.push(request),
      answer: () => there,
      drop: (request: number) => dropped.push(request),
    }
    const host = openWasiHost(
      testWorld({ http }),
      testTurns({
        wait: () => {
          there = answer
          return 'ready'
        },
        ...turns,
      }),
    )
    const at = host.preview2(IDS) as unknown as Interfaces
    const types = at['wasi:http/types@0.2.3']
    const request = new types.OutgoingRequest(types.Fields.fromList([['x-a', bytes('1')]]))
    request.setMethod({ tag: 'post' })
    request.setScheme({ tag: 'HTTPS' })
    request.setAuthority('example.com:8443')
    request.setPathWithQuery('/p?q=1')
    return { host, at, types, request, sent, dropped }
  }

  it('sends the whole request when its body is finished, and gives the answer', () => {
    const { at, types, request, sent, dropped, host } = ask({
      ok: true,
      status: 201,
      headers: [['b', '2']],
      body: bytes('answer'),
    })
    const body = request.body()
    const future = at['wasi:http/outgoing-handler@0.2.3'].handle(request, undefined)
    const stream = body.write()
    stream.write(bytes('one '))
    stream.write(bytes('two'))
    stream[Symbol.dispose]()
    expect([sent.length, future.get()]).toEqual([0, undefined])
    types.OutgoingBody.finish(body, undefined)
    expect(sent).toEqual([
      {
        method: 'POST',
        url: 'https://example.com:8443/p?q=1',
        headers: [['x-a', '1']],
        body: bytes('one two'),
      },
    ])
    future.subscribe().block()
    const response = future.get().val.val
    expect([response.status(), response.headers().get('B')]).toEqual([201, [bytes('2')]])
    const incoming = response.consume().stream()
    expect(new TextDecoder().decode(incoming.read(99n))).toBe('answer')
    expect(refusalOf(() => incoming.read(1n))).toEqual({ tag: 'closed' })
    expect(future.get()).toEqual({ tag: 'err', val: undefined })
    expect(() => host.capture()).toThrow(expect.objectContaining({ code: 'unsupported' }))
    future[Symbol.dispose]()
    expect(dropped).toEqual([1])
  })

  it.each(['impossible', 'ready'] as const)('fails where no answer comes (%s)', (came) => {
    const { at, request } = ask(undefined, { wait: () => came })
    const future = at['wasi:http/outgoing-handler@0.2.3'].handle(request, undefined)
    future.subscribe().block()
    const told = future.get()
    if (came === 'impossible') expect(told.val).toMatchObject({ tag: 'err', val: { tag: 'internal-error' } })
    else expect(told).toBeUndefined()
  })

  it('tells a denial, and asks nobody where it is not granted', () => {
    const { at, request } = ask({ ok: false, reason: 'denied' })
    const future = at['wasi:http/outgoing-handler@0.2.3'].handle(request, undefined)
    future.subscribe().block()
    expect(future.get().val).toEqual({ tag: 'err', val: { tag: 'HTTP-request-denied' } })
    const { at: without } = (() => {
      const host = openWasiHost(testWorld(), testTurns())
      return { at: host.preview2(IDS) as unknown as Interfaces }
    })()
    const { OutgoingRequest, Fields } = without['wasi:http/types@0.2.3']
    const unsent = new OutgoingRequest(new Fields())
    unsent.setAuthority('example.com')
    expect(refusalOf(() => without['wasi:http/outgoing-handler@0.2.3'].handle(unsent, undefined))).toEqual({
      tag: 'HTTP-request-denied',
    })
  })

  const own = (resource: { readonly id: number }, host: WasiHost): object | undefined =>
    host.resource(resource.id)

  it('keeps nothing of what was handed over: a guest may ask as often as it likes', () => {
    const { at, types, request, host } = ask(undefined)
    const fields = new types.Fields()
    const other = new types.OutgoingRequest(fields)
    expect([own(fields, host), own(other, host)]).toEqual([undefined, other])
    const options = new types.RequestOptions()
    const future = at['wasi:http/outgoing-handler@0.2.3'].handle(request, options)
    expect([request, options, future].map((one) => own(one, host))).toEqual([undefined, undefined, future])
    // Refused ones are handed over, too: this one has no authority.
    expect(() => at['wasi:http/outgoing-handler@0.2.3'].handle(other, undefined)).toThrow('WASI')
    expect(own(other, host)).toBeUndefined()
    future[Symbol.dispose]()
    expect(host.capture().resources).toEqual([])
  })

  it('sends nothing whose answer was given up before it was whole', () => {
    const { at, types, request, sent } = ask(undefined)
    const body = request.body()
    at['wasi:http/outgoing-handler@0.2.3'].handle(request, undefined)[Symbol.dispose]()
    types.OutgoingBody.finish(body, undefined)
    expect(sent).toEqual([])
  })

  it('holds no more of all bodies together than one may have, until they are sent or given up', () => {
    const { at, types, request, sent } = ask(undefined)
    const full = new Uint8Array(60_000)
    const requestWith = (): Interfaces => {
      const made = new types.OutgoingRequest(new types.Fields())
      made.setAuthority('example.com')
      return made
    }
    const write = (body: Interfaces): unknown => {
      const stream = body.write()
      try {
        return stream.write(full)
      } catch (error) {
        return (error as { payload?: unknown }).payload
      }
    }
    const [first, second, third] = [request.body(), requestWith().body(), requestWith().body()]
    expect([write(first), write(second)]).toEqual([undefined, { tag: 'closed' }])
    types.OutgoingBody.finish(first, undefined)
    expect(write(third)).toEqual({ tag: 'closed' })
    at['wasi:http/outgoing-handler@0.2.3'].handle(request, undefined)
    expect(sent[0]?.body.length).toBe(60_000)
    const unsent: Interfaces & Partial<Disposable> = requestWith()
    const fourth = unsent.body()
    expect(write(fourth)).toBeUndefined()
    types.OutgoingBody.finish(fourth, undefined)
    unsent[Symbol.dispose]?.()
    const fifth = requestWith().body()
    expect(write(fifth)).toBeUndefined()
    fifth[Symbol.dispose]()
    expect(write(requestWith().body())).toBeUndefined()
  })

  it('is told of an answer with more fields than it may have, and not ended by it', () => {
    for (const headers of [
      [['a', 'v'.repeat(65_536)]],
      Array.from({ length: 257 }, (_, at) => [`a${at}`, '']),
    ] as [string, string][][]) {
      const { at, request } = ask({ ok: true, status: 200, headers, body: bytes('') })
      const future = at['wasi:http/outgoing-handler@0.2.3'].handle(request, undefined)
      future.subscribe().block()
      const told = { tag: 'HTTP-response-header-section-size', val: undefined }
      expect(future.get()).toEqual({ tag: 'ok', val: { tag: 'err', val: told } })
    }
  })

  it('takes no authority, path or field that means something else to a parser (attack 41)', () => {
    const { request, types } = ask(undefined)
    for (const authority of ['a@b', 'a/b', 'a\\b', 'a#b', 'a?b', 'a b', 'a\tb', '', 'a%2eb', 'ä.com']) {
      expect(() => request.setAuthority(authority), authority).toThrow('WASI')
    }
    for (const path of ['x', '//x y', '/\n', 'http://x/']) {
      expect(() => request.setPathWithQuery(path), path).toThrow('WASI')
    }
    for (const [name, value] of [
      ['a b', ''],
      ['a', 'b\r\nc: d'],
      ['', ''],
      ['a:', ''],
    ] as const) {
      expect(
        refusalOf(() => types.Fields.fromList([[name, bytes(value)]])),
        name,
      ).toEqual({
        tag: 'invalid-syntax',
      })
    }
  })
})
