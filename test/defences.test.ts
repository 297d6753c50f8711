import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Defence, mismatch, takeOut } from '../scripts/defence.ts'
import { DEFENCES } from './defences.ts'

const ROOT = join(import.meta.dirname, '..')

describe('the list of defences', () => {
  it.each(DEFENCES)('$name still matches the code and names tests that exist', (defence) => {
    expect(mismatch(defence, readFileSync(join(ROOT, defence.file), 'utf8'))).toBeUndefined()
    expect(defence.tests.length).toBeGreaterThan(0)
    for (const test of defence.tests) expect(existsSync(join(ROOT, test)), test).toBe(true)
  })

  it('has every name once', () => {
    const names = DEFENCES.map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
    for (const name of names) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  })
})

describe('taking a defence out', () => {
  const guard: Defence = {
    name: 'g',
    against: '',
    file: 'a.ts',
    find: 'if (n > 1) throw',
    replace: '',
    tests: [],
  }

  it('replaces exactly the named text, also by text that looks like a pattern', () => {
    expect(takeOut({ ...guard, replace: "$& $' $1" }, 'x; if (n > 1) throw e')).toBe("x; $& $' $1 e")
  })

  it('refuses text that is gone, text that is there twice, and a replacement that changes nothing', () => {
    expect(() => takeOut(guard, 'if (n > 2) throw e')).toThrow('no longer has the text')
    expect(() => takeOut(guard, 'if (n > 1) throw a; if (n > 1) throw b')).toThrow('2 times')
    expect(() => takeOut({ ...guard, replace: guard.find }, 'if (n > 1) throw e')).toThrow('changes nothing')
  })
})
