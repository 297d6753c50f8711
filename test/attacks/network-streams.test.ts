/** Attacks on bodies that are read in pieces: by guests that forge and hoard, and by servers that drip and never end. */
import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { closeNets, hoard, openNet } from '../guest/streamed-bodies.testkit.ts'

afterEach(closeNets)

const GRANTS = ['net.fetch', 'test.tell']
const CODE = `const code = (promise) => promise.then(() => 'read', (error) => error.code)`

describe('42: the name of a body', () => {
  it('is worth nothing to another guest, and nothing when it is made up', async () => {
    let tellName: (name: unknown) => void = () => {}
    const named = new Promise<unknown>((resolve) => {
      tellName = resolve
    })
    let tellOwner: () => void = () => {}
    const tried = new Promise<void>((resolve) => {
      tellOwner = resolve
    })
    const { runtime, origin } = await openNet(
      (_request, response) => response.end('secret'),
      {},
      async (what) => {
        tellName(what)
        await tried
      },
    )
    const owner = runtime.run(
      `const { stream } = await net.fetch({ url: input, as: 'stream' })
       await test.tell(stream)
       return new TextDecoder().decode((await net.readBody({ stream, offset: 0 })).bytes)`,
      { input: origin, grants: GRANTS },
    )
    const name = await named
    const stolen = await runtime.run(
      `${CODE}
       const mine = (await net.fetch({ url: input.origin, as: 'stream' })).stream
       const found = []
       for (const want of ['chunk', 'rest', 'nothing']) for (const stream of [input.name, '1', mine.toUpperCase(), '__proto__', 'constructor'])
         found.push(await code(net.readBody({ stream, offset: 0, want })))
       return [mine === input.name, found, await code(net.readBody({ stream: mine, offset: 0 }))]`,
      { input: { origin, name }, grants: GRANTS },
    )
    tellOwner()
    const owned = await owner
    // Closing what one does not have is no news; the owner still reads its body.
    const found = [...Array(10).fill('body_lost'), ...Array(5).fill('read')]
    expect(stolen).toMatchObject({ status: 'completed', value: [false, found, 'read'] })
    expect(owned).toMatchObject({ status: 'completed', value: 'secret' })
  })

  it('gives nothing at a position that was passed or never reached', async () => {
    const { runtime, origin } = await openNet((_request, response) => void response.write('0123456789'))
    const outcome = await runtime.run(
      `${CODE}
       const { stream } = await net.fetch({ url: input, as: 'stream' })
       const at = (offset) => net.readBody({ stream, offset })
       const first = await at(0), same = await at(0), later = await at(4)
       return [[first, same, later].map(({ bytes }) => new TextDecoder().decode(bytes)),
         await Promise.all([3, 11, 1e9, -1, 0.5, NaN].map((offset) => code(at(offset)))), await code(net.readBody({ stream: 'x'.repeat(100), offset: 0 }))]`,
      { input: origin, grants: GRANTS },
    )
    const bad = 'invalid_arguments'
    expect(outcome).toMatchObject({
      value: [
        ['0123456789', '0123456789', '456789'],
        ['body_lost', 'body_lost', 'body_lost', bad, bad, bad],
        bad,
      ],
    })
  })
})

describe('42: the grant of a body', () => {
  it('is that of its request: what takes one back takes both, and bytes count for both', async () => {
    let revoked = false
    const { runtime, origin } = await openNet(
      (_request, response) => response.end('x'.repeat(1_000)),
      {},
      () => {
        revoked = true
      },
    )
    const source = `${CODE}
      const { stream } = await net.fetch({ url: input, as: 'stream' })
      const before = await code(net.readBody({ stream, offset: 0, want: 'rest' }))
      await test.tell('revoke')
      return [before, await code(net.readBody({ stream, offset: 0 }))]`
    const grant = { capability: 'net.fetch', revoked: () => revoked }
    const taken = await runtime.run(source, { input: origin, grants: [grant, 'test.tell'] })
    expect(taken).toMatchObject({ value: ['read', 'revoked'] })
    const few = { capability: 'net.fetch', bytesIn: 900 }
    const bounded = await runtime.run(source, { input: origin, grants: [few, 'test.tell'] })
    expect(bounded).toMatchObject({ value: ['budget_exhausted', 'body_lost'] })
  })

  it('is none where only reading is granted', async () => {
    const { runtime, origin } = await openNet((_request, response) => response.end('x'))
    const source = `return [typeof net.fetch, await net.readBody({ stream: 'a', offset: 0 }).catch((error) => error.code), await fetch(input).catch((error) => error.name)]`
    const outcome = await runtime.run(source, { input: origin, grants: ['net.readBody'] })
    expect(outcome).toMatchObject({ value: ['undefined', 'body_lost', 'TypeError'] })
  })
})

describe('42: hoarding', () => {
  it('answers whose bodies nobody reads hold few connections, and none at the end', async () => {
    const { outcome, most, left } = await hoard(200)
    expect(outcome).toMatchObject({ status: 'completed', value: 'done' })
    // Those that are kept, and those of calls at work.
    expect([most > 8, most <= 16 + 16, left]).toEqual([true, true, 0])
  })

  it('a body that nobody reads is received no further than a little ahead, and closed in time', async () => {
    let sent = 0
    let closed: () => void = () => {}
    const whenClosed = new Promise<void>((resolve) => {
      closed = resolve
    })
    const { runtime, origin } = await openNet(
      (_request, response) => {
        response.on('close', () => closed())
        const more = (): void => {
          sent += 65_536
          if (response.write(Buffer.alloc(65_536))) setImmediate(more)
          else response.once('drain', more)
        }
        more()
      },
      { maxResponseBytes: 2 ** 30, idleBodyMs: 150 },
      () => whenClosed,
    )
    const source = `
      const response = await fetch(input)
      await test.tell('wait until it is closed')
      return response.text().catch((error) => error.cause.code)`
    const outcome = await runtime.run(source, { input: origin, grants: GRANTS })
    expect(outcome).toMatchObject({ value: 'body_lost' })
    expect(sent).toBeLessThan(32 * 2 ** 20)
  })
})

describe('42: servers', () => {
  /** A byte now and then, for ever. */
  const drip = (_request: unknown, response: ServerResponse): void => {
    response.write('x')
    const timer = setInterval(() => response.write('x'), 5)
    response.on('close', () => clearInterval(timer))
  }

  it('one that drips holds a read of the whole no longer than the call may take', async () => {
    const { runtime, origin } = await openNet(drip, { timeoutMs: 80 })
    const source = `return fetch(input).then((response) => response.text()).catch((error) => [error.name, error.cause.code])`
    const outcome = await runtime.run(source, { input: origin, grants: GRANTS })
    expect(outcome).toMatchObject({ value: ['TypeError', 'timeout'] })
  })

  it('one that never ends ends with the limits of the run, and its connection with it', async () => {
    let closed: () => void = () => {}
    const whenClosed = new Promise<void>((resolve) => {
      closed = resolve
    })
    const { runtime, origin } = await openNet((request, response) => {
      response.on('close', () => closed())
      drip(request, response)
    })
    const source =
      'let n = 0; for await (const chunk of (await fetch(input)).body) n += chunk.length; return n'
    const outcome = await runtime.run(source, { input: origin, grants: GRANTS, limits: { calls: 8 } })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'calls' })
    await whenClosed
  })

  it('one that never ends under the cap of bytes ends at the cap', async () => {
    const { runtime, origin } = await openNet(drip, { maxResponseBytes: 10 })
    const source = `
      let n = 0
      try { for await (const chunk of (await fetch(input)).body) n += chunk.length } catch (error) { return [n <= 10, error.cause.code] }`
    const outcome = await runtime.run(source, { input: origin, grants: GRANTS })
    expect(outcome).toMatchObject({ value: [true, 'result_too_large'] })
  })
})
