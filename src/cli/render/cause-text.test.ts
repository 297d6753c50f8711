import { describe, expect, it } from 'vitest'
import { causeText } from './cause-text.ts'

describe('the text of a cause', () => {
  it('is the message, the frames of other people, and what caused it', () => {
    const error = new TypeError('no price', { cause: 'a timeout' })
    error.stack = [
      'TypeError: no price',
      '    at invoke (/home/me/tools.js:4:40)',
      '    at attempt (/opt/caisson/dist/gate.js:1:1)',
      '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
    ].join('\n')
    expect(causeText(error, ['/opt/caisson/dist/'])).toEqual([
      'TypeError: no price',
      '    at invoke (/home/me/tools.js:4:40)',
      'caused by: a timeout',
    ])
  })

  it.each<[string, unknown]>([
    ['text', 'x'],
    ['nothing', undefined],
    ['a symbol', Symbol('s')],
    ['an object without a prototype', Object.create(null)],
    [
      'an error whose getters throw',
      Object.defineProperty(new Error('m'), 'message', { get: () => nothing.here }),
    ],
    ['its own cause', itself()],
    ['a revoked proxy', revoked()],
    ['a message of 40 MB', new Error('m\n'.repeat(2e7))],
    ['a stack of 40 MB', Object.assign(new Error('m'), { stack: '    at f (a:1:1)\n'.repeat(2e6) })],
    ['controls', new Error('\x1b[2J\u202eabc')],
  ])('is short and harmless for %s', (_, cause) => {
    const lines = causeText(cause, [])
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.join('\n').length).toBeLessThan(12_000)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
    expect(lines.join('\n')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/)
  })
})

const nothing = undefined as unknown as { here: string }

function itself(): Error {
  const error = new Error('m')
  error.cause = error
  return error
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
