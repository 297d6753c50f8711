/** The examples of docs/value-encoding.md are what the code does. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../base/bytes.ts'
import { decodeCanonical } from './decode-canonical.ts'
import { encodeCanonical } from './encode-canonical.ts'
import { fromTaggedJson, toTaggedJson } from './tagged-json.ts'

const doc = readFileSync(new URL('../../docs/value-encoding.md', import.meta.url), 'utf8')

describe('docs/value-encoding.md', () => {
  const encodings = [...doc.matchAll(/^\| .* \| `(c1 [0-9a-f ]+)` \|$/gm)].map((match) => match[1] as string)

  it('shows canonical bytes that decode and encode to themselves', () => {
    expect(encodings.length).toBeGreaterThan(10)
    for (const example of encodings) {
      const hex = example.replaceAll(' ', '')
      expect(toHex(encodeCanonical(decodeCanonical(fromHex(hex))))).toBe(hex)
    }
  })

  it('shows tagged JSON that is read and written to itself', () => {
    const forms = [...doc.matchAll(/`(\{"\$caisson":[^`…]+\})`/g)].map((match) => match[1] as string)
    const alone = forms.filter((form) => !form.includes('"ref"'))
    expect(alone.length).toBeGreaterThan(8)
    for (const form of alone)
      expect(JSON.stringify(toTaggedJson(fromTaggedJson(JSON.parse(form))))).toBe(form)
  })
})
