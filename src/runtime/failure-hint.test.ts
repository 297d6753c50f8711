import { describe, expect, it } from 'vitest'
import type { GuestError } from '../machine/turn.ts'
import { failureHint } from './failure-hint.ts'

const undefinedGlobal = (name: string, line = 1, column = 1): GuestError => ({
  name: 'ReferenceError',
  message: `'${name}' is not defined`,
  position: { file: 'p.js', line, column },
})

describe('the hint after a failure', () => {
  it.each([
    [
      'process',
      'process.env.HOME',
      '`process` is not available in a guest; use the global input for arguments',
    ],
    ['document', 'document.title', '`document` is not available in a guest; a guest runs in no page'],
    ['Buffer', "Buffer.from('a')", '`Buffer` is not available in a guest; use Uint8Array'],
    ['require', "require('fs')", '`fs` is not available in a guest; grant files.readText'],
    ['require', "require('left-pad')", '`require` is not available in a guest; use import'],
    ['require', 'require(name)', '`require` is not available in a guest; use import'],
  ])('%s', (name, source, hint) => {
    expect(failureHint(undefinedGlobal(name), source, [])).toContain(hint)
  })

  it('names what exists and was not granted before all else', () => {
    expect(failureHint(undefinedGlobal('fetch'), 'fetch.page()', ['fetch.page'])).toBe(
      "fetch.page exists and this guest has no grant for it: add 'fetch.page' to grants.",
    )
  })

  it('is none for what no platform has, and for an error that only looks like it', () => {
    expect(failureHint(undefinedGlobal('procces'), 'procces', [])).toBeUndefined()
    expect(failureHint({ name: 'Error', message: "'process' is not defined" }, 'x', [])).toBeUndefined()
    expect(failureHint({ name: 'ReferenceError', message: `'${'x'.repeat(1e6)}` }, 'x', [])).toBeUndefined()
    expect(failureHint(undefinedGlobal('constructor'), 'x', [])).toBeUndefined()
  })
})
