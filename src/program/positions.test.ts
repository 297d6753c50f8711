import { describe, expect, it } from 'vitest'
import { locateError } from './positions.ts'

const shift = { fileName: 'p.js', columns: 24 }

describe('positions', () => {
  it('of the first line are moved back, those of others and of other files stay', () => {
    const stack = '    at f (p.js:1:30)\n    at g (p.js:2:30)\n    at eval (<evalScript>:1:30)\n'
    expect(locateError({ name: 'Error', message: 'm', stack }, shift)).toMatchObject({
      stack: '    at f (p.js:1:6)\n    at g (p.js:2:30)\n    at eval (<evalScript>:1:30)',
      position: { file: 'p.js', line: 1, column: 6 },
    })
  })

  it('never show frames of ours, also in causes', () => {
    const stack = '    at define (caisson:setup:1:1)\n    at p.js:3:4'
    const error = { name: 'Error', message: 'm', stack, cause: { name: 'Error', message: 'c', stack } }
    const located = locateError(error, shift)
    expect(located).toMatchObject({ position: { line: 3 }, cause: { position: { line: 3 } } })
    expect(JSON.stringify(located)).not.toContain('caisson:setup')
  })

  it('are none where all frames are ours, whatever was read from them, and stay where no frame is', () => {
    const ours = { file: 'caisson:import["p.js","./a.js"]', line: 3, column: 26 }
    const stack = `    at load (${ours.file}:3:26)`
    const error = { name: 'Error', message: 'm', stack, position: ours }
    expect(locateError(error, shift)).toEqual({ name: 'Error', message: 'm', stack: '' })
    const position = { file: 'a.js', line: 1, column: 2 }
    expect(locateError({ ...error, stack: 'no frame', position }, shift)).toMatchObject({ position })
  })
})
