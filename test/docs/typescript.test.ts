/** docs/typescript.md says what is refused, and within which bounds it is read, as the code does. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { transpileInHost } from '../typescript/transpile-in-host.testkit.ts'
import { ROOT } from './documented-pages.ts'

const page = readFileSync(join(ROOT, 'docs/typescript.md'), 'utf8')

function section(heading: string): string {
  return page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
}

describe('docs/typescript.md', () => {
  const refused = [...section('What is refused').matchAll(/^\| `([^`]+)` \|/gm)].map(([, code = '']) => code)

  it('has rows of what is refused', () => {
    expect(refused.length).toBeGreaterThan(8)
  })

  it.each(refused)('%s is refused', (code) => {
    expect(transpileInHost(code)).toHaveProperty('message')
  })

  it('has the bounds of the code', () => {
    const numbers = (name: string, file: string): string => {
      const [, value = ''] =
        new RegExp(`${name} = ([\\d_]+)`).exec(readFileSync(join(ROOT, file), 'utf8')) ?? []
      return Number(value.replaceAll('_', '')).toLocaleString('en')
    }
    const bounds = section('Bounds')
    for (const name of [
      'FUEL_PER_CHARACTER',
      'LEAST_FUEL',
      'MOST_FUEL',
      'MOST_CHARACTERS',
      'TRANSPILER_STACK_BYTES',
    ]) {
      expect(bounds).toContain(numbers(name, 'src/isolate/transpiler.ts'))
    }
    for (const name of ['MOST_SOURCES', 'MOST_CHARACTERS', 'MOST_DOMAINS']) {
      expect(bounds).toContain(numbers(name, 'src/runtime/transpile-cache.ts'))
    }
  })
})
