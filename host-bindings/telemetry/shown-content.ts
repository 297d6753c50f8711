/**
 * Values of calls as they are shown to who asked for content: JSON, cut short, without what must not leave the host.
 *
 * Invariants
 * 1. No more is looked at than is shown, and what follows from it: a large value costs no more than a small one.
 * 2. What stands under a name that says secret is not shown, however deep it stands; nor are texts that look like keys
 *    and tokens of common services.
 * 3. No code of a value runs: values are copies of plain data, and only own properties are read.
 */

const CUT = '…'
const MOST_DEPTH = 8
const HIDDEN = '[hidden]'
/** Names of properties whose values are not shown. */
const SECRET_NAME =
  /pass(word|wd|phrase)?$|^pass|secret|token|api[-_]?key|apikey|credential|authori[sz]ation|auth$|cookie|session[-_]?id|private[-_]?key|signature|^jwt$|^pin$|^ssn$|^cvv$|card[-_]?number/i
/** Texts that are not shown: bearer and JSON web tokens, PEM, keys of the large services, passwords in addresses. */
const SECRET_TEXT =
  /\b(bearer|basic)\s+[\w+/=.~-]{8,}|\beyJ[\w-]{8,}\.[\w-]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY|\b(sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|AKIA|ASIA|AIza)[-_A-Za-z0-9]{12,}|:\/\/[^\s/:@]+:[^\s/@]+@/i

/** @param most UTF-16 units of the text */
export function showContent(value: unknown, most: number): string {
  const out = new Writer(most)
  write(value, out, 0)
  return out.text
}

class Writer {
  text = ''
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get full(): boolean {
    return this.text.length >= this.#most
  }

  add(piece: string): void {
    if (this.full) return
    const room = this.#most - this.text.length
    this.text += piece.length <= room ? piece : piece.slice(0, room - 1) + CUT
  }

  /** Only as much of a text as there is room for is looked at, and what a secret in it could begin with before. */
  addText(text: string): void {
    const some = text.length > this.#most + 4_096 ? text.slice(0, this.#most + 4_096) : text
    this.add(JSON.stringify(SECRET_TEXT.test(some) ? HIDDEN : some))
  }
}

function write(value: unknown, out: Writer, depth: number): void {
  if (out.full) return
  switch (typeof value) {
    case 'string':
      out.addText(value)
      return
    case 'number':
    case 'boolean':
      out.add(String(value))
      return
    case 'bigint':
      out.add(`"${value >= 2n ** 64n || value <= -(2n ** 64n) ? 'a large bigint' : value}"`)
      return
    case 'object':
      if (value === null) out.add('null')
      else if (depth >= MOST_DEPTH) out.add(`"${CUT}"`)
      else writeObject(value, out, depth)
      return
    default:
      out.add('null')
  }
}

function writeObject(value: object, out: Writer, depth: number): void {
  if (Array.isArray(value)) {
    out.add('[')
    for (let i = 0; i < value.length && !out.full; i++) {
      if (i > 0) out.add(',')
      write(value[i], out, depth + 1)
    }
    out.add(']')
  } else if (value instanceof Map) writePairs(value.entries(), out, depth)
  else if (value instanceof Set) {
    out.add('[')
    let first = true
    for (const one of value) {
      if (out.full) break
      if (!first) out.add(',')
      first = false
      write(one, out, depth + 1)
    }
    out.add(']')
  } else if (value instanceof Date)
    out.addText(Number.isNaN(value.getTime()) ? 'no date' : value.toISOString())
  else if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) out.add(`"${value.byteLength} bytes"`)
  else if (value instanceof Error)
    writePairs(
      [
        ['name', value.name],
        ['message', value.message],
      ],
      out,
      depth,
    )
  else writePairs(ownPairs(value), out, depth)
}

function* ownPairs(value: object): Generator<readonly [string, unknown]> {
  for (const name in value) {
    const property = Object.getOwnPropertyDescriptor(value, name)
    if (property !== undefined && 'value' in property) yield [name, property.value]
  }
}

function writePairs(pairs: Iterable<readonly [unknown, unknown]>, out: Writer, depth: number): void {
  out.add('{')
  let first = true
  for (const [key, value] of pairs) {
    if (out.full) break
    if (!first) out.add(',')
    first = false
    const name = typeof key === 'string' ? key : typeof key
    out.addText(name)
    out.add(':')
    if (SECRET_NAME.test(name.slice(0, 200))) out.add(JSON.stringify(HIDDEN))
    else write(value, out, depth + 1)
  }
  out.add('}')
}
