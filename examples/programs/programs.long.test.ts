/** Programs of other people: long, because 94 MB are installed and prepared. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'
import { MARKDOWN, VERILOG } from './main.ts'
import { convert, installPrograms, synthesize } from './others.ts'

const PATIENCE_MS = 900_000

describe('a program of other people as a guest', () => {
  let runtime: Runtime

  beforeAll(async () => {
    installPrograms()
    runtime = await openRuntime()
  }, PATIENCE_MS)
  afterAll(() => runtime.close())

  it('yosys makes gates of Verilog', { timeout: PATIENCE_MS }, async () => {
    const { text } = await synthesize(runtime, VERILOG)
    expect(text).toMatch(/=== counter ===/)
    expect(text).toMatch(/\b8 +\$_SDFF_PP0_/)
  })

  it('pandoc makes HTML of Markdown', { timeout: PATIENCE_MS }, async () => {
    const { text, fuel } = await convert(runtime, MARKDOWN)
    expect(text).toContain('<h1 id="stock">Stock</h1>')
    expect(text).toContain('<td><em>nut</em></td>')
    expect((await convert(runtime, MARKDOWN)).fuel).toBe(fuel)
  })
})
