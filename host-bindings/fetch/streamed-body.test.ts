import { describe, expect, it } from 'vitest'
import { CHUNK_BYTES, StreamedBody } from './streamed-body.ts'

const NEVER = new AbortController().signal
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** A body under the hand of the test. */
function openBody(maxBytes = 1_000_000) {
  const pieces: Uint8Array[] = []
  let state: 'open' | 'ended' | Error = 'open'
  let wake: () => void = () => {}
  let taken = 0
  let closed = 0
  async function* body(): AsyncIterable<Uint8Array> {
    for (;;) {
      const piece = pieces.shift()
      if (piece !== undefined) {
        taken += piece.byteLength
        yield piece
      } else if (state === 'open') {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      } else if (state === 'ended') return
      else throw state
    }
  }
  const streamed = new StreamedBody(body(), {
    maxBytes,
    close: () => {
      closed += 1
      state = 'ended'
      wake()
    },
  })
  return {
    streamed,
    send(piece: string | Uint8Array) {
      pieces.push(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)
      wake()
    },
    end(how: 'ended' | Error = 'ended') {
      state = how
      wake()
    },
    get taken() {
      return taken
    },
    get closed() {
      return closed
    },
  }
}

describe('a streamed body', () => {
  it('gives what has come, and waits for at least one byte', async () => {
    const { streamed, send, end } = openBody()
    const first = streamed.read(0, false, NEVER)
    send('one')
    expect(text((await first).bytes)).toBe('one')
    send('two')
    end()
    await new Promise((resolve) => setTimeout(resolve, 0))
    const last = await streamed.read(3, false, NEVER)
    expect([text(last.bytes), last.done]).toEqual(['two', true])
  })

  it('1: a position gives the same bytes however often, until a later one is asked for', async () => {
    const { streamed, send } = openBody()
    send('onetwo')
    for (let i = 0; i < 3; i++) expect(text((await streamed.read(0, false, NEVER)).bytes)).toBe('onetwo')
    expect(text((await streamed.read(3, false, NEVER)).bytes)).toBe('two')
    for (const offset of [0, 2, 7, 1_000]) {
      await expect(streamed.read(offset, false, NEVER)).rejects.toMatchObject({ code: 'body_lost' })
    }
    expect(text((await streamed.read(3, false, NEVER)).bytes)).toBe('two')
  })

  it('1: of two reads at one position both get it, and one that was overtaken fails', async () => {
    const { streamed, send } = openBody()
    const both = [streamed.read(0, false, NEVER), streamed.read(0, false, NEVER)]
    send('one')
    expect((await Promise.all(both)).map(({ bytes }) => text(bytes))).toEqual(['one', 'one'])
    const waiting = streamed.read(3, true, NEVER)
    send('two')
    await streamed.read(3, false, NEVER)
    const ahead = streamed.read(6, false, NEVER)
    send('three')
    await ahead
    streamed.close()
    await expect(waiting).rejects.toMatchObject({ code: 'body_lost' })
  })

  it('2: takes no more than it may hold, and at most a chunk at once leaves it', async () => {
    const body = openBody(10_000_000)
    for (let i = 0; i < 100; i++) body.send(new Uint8Array(20_000))
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect(body.taken).toBeLessThanOrEqual(2 * CHUNK_BYTES + 20_000)
    const { bytes } = await body.streamed.read(0, false, NEVER)
    expect(bytes.byteLength).toBe(CHUNK_BYTES)
    body.end()
    const rest = await body.streamed.read(CHUNK_BYTES, true, NEVER)
    expect([rest.bytes.byteLength, rest.done]).toEqual([2_000_000 - CHUNK_BYTES, true])
  })

  it('3: closes the exchange once, when it has ended, failed, or is closed', async () => {
    for (const finish of ['ended', new Error('broken'), undefined] as const) {
      const body = openBody()
      if (finish === undefined) body.streamed.close()
      else body.end(finish)
      await new Promise((resolve) => setTimeout(resolve, 0))
      body.streamed.close()
      expect(body.closed).toBe(1)
      await expect(body.streamed.read(0, false, NEVER)).rejects.toMatchObject({ code: 'body_lost' })
    }
  })

  it('4: gives what came before a failure, then the failure, every time', async () => {
    const { streamed, send, end } = openBody()
    send('one')
    end(new Error('secret path'))
    await new Promise((resolve) => setTimeout(resolve, 0))
    expect(await streamed.read(0, false, NEVER)).toMatchObject({ done: false })
    for (let i = 0; i < 2; i++) {
      await expect(streamed.read(3, i > 0, NEVER)).rejects.toMatchObject({ code: 'network_failed' })
    }
    const large = openBody(5)
    large.send('1234')
    large.send('56')
    expect(text((await large.streamed.read(0, false, NEVER)).bytes)).toBe('1234')
    await expect(large.streamed.read(4, false, NEVER)).rejects.toMatchObject({ code: 'result_too_large' })
    expect(large.closed).toBe(1)
  })

  it('a read that is given up leaves everything where it is', async () => {
    const { streamed, send } = openBody()
    const controller = new AbortController()
    const given = streamed.read(0, true, controller.signal)
    send('one')
    controller.abort()
    await expect(given).rejects.toMatchObject({ code: 'aborted' })
    await expect(streamed.read(0, false, controller.signal)).resolves.toMatchObject({ done: false })
    await expect(streamed.read(3, false, controller.signal)).rejects.toMatchObject({ code: 'aborted' })
    send('two')
    expect(text((await streamed.read(3, false, NEVER)).bytes)).toBe('two')
  })
})
