import { describe, expect, it } from 'vitest'
import type { GuestError } from '../../machine/turn.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import { EXIT } from '../exit-code.ts'
import { exitOf } from './exit-of.ts'

const failed = (error: Partial<GuestError>): Outcome =>
  ({ status: 'failed', error: { name: 'Error', message: 'm', ...error } }) as Outcome
const caused = (code: string): GuestError => ({ name: 'CapabilityError', message: 'm', code })

describe('the exit code of a failure', () => {
  it.each<[string, Partial<GuestError>, number]>([
    ['a mistake', {}, EXIT.failed],
    ['a refused call', { code: 'network_denied' }, EXIT.denied],
    ['what a refused call caused', { cause: caused('network_denied') }, EXIT.denied],
    [
      'what it caused through another',
      { cause: { name: 'Error', message: 'm', cause: caused('not_granted') } },
      EXIT.denied,
    ],
    ['a code of its own', { code: 'mine', cause: caused('network_denied') }, EXIT.failed],
    ['a damaged record', { code: 'corrupted' }, EXIT.refusedInput],
    ['what only says so of its cause', { cause: caused('corrupted') }, EXIT.failed],
  ])('%s', (_, error, code) => {
    expect(exitOf(failed(error))).toBe(code)
  })

  it('ends with causes without end', () => {
    const error: { name: string; message: string; cause?: GuestError } = { name: 'Error', message: 'm' }
    error.cause = error
    expect(exitOf(failed(error))).toBe(EXIT.failed)
  })
})
