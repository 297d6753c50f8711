/**
 * A reader of checkpoints that knows nothing but docs/checkpoint-format.md: names, numbers, types and orders come from
 * its tables, the rest from its sentences. It shares no code with the library, and checks no more than it needs to.
 */
import { createDecipheriv, createHash, createHmac } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'

type Row = Readonly<Record<string, string>>
type Fields = Record<string, number | string | Buffer>

/** What the reader is told beside the file. */
export interface ReaderInput {
  /** Keys by their ids. */
  readonly keys: ReadonlyMap<string, Buffer>
  /** Pages and state of the parent, or pages of the base image and no state. */
  readonly parent: { readonly pages: ReadonlyMap<number, Buffer>; readonly state: Buffer }
}

export interface ReadFile {
  readonly id: string
  readonly header: Fields
  readonly state: Buffer
  readonly pages: ReadonlyMap<number, Buffer>
}

/** The rows of the table under `heading` whose first column is called `column`. */
function table(page: string, heading: string, column: string): readonly Row[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const block = section.split('\n\n').find((text) => text.startsWith(`| ${column} |`))
  if (block === undefined) throw new Error(`There is no table of "${column}" under "${heading}".`)
  const [head = [], , ...rows] = block
    .trim()
    .split('\n')
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
  return rows.map((cells) => Object.fromEntries(cells.map((cell, i) => [head[i] ?? '', cell])))
}

/** The document as a reader. */
export class DocumentedReader {
  readonly #numbers: ReadonlyMap<string, number>
  readonly #parts: readonly Row[]
  readonly #preamble: readonly Row[]
  readonly #flags: readonly Row[]
  readonly #fields: readonly Row[]
  readonly #section: readonly Row[]
  readonly #types: ReadonlyMap<number, string>
  readonly #methods: ReadonlyMap<number, string>
  readonly #kinds: ReadonlyMap<number, string>
  readonly #hows: ReadonlyMap<number, string>
  readonly #stateParts: readonly Row[]
  /** What was met of the sections, methods, kinds of pages and ways to say a word that the tables name. */
  readonly met: Set<string> = new Set()

  /** All that the numbered tables name. */
  get named(): readonly string[] {
    return [this.#types, this.#methods, this.#kinds, this.#hows].flatMap((table) => [...table.values()])
  }

  constructor(page: string) {
    const numbered = (heading: string, name: string): ReadonlyMap<number, string> => {
      const rows = [...page.matchAll(/^\| number \| (\w+) \|/gm)].some(([, found]) => found === name)
      if (!rows) throw new Error(`There is no numbered table of "${name}".`)
      const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
      const block = section.split('\n\n').find((text) => text.startsWith(`| number | ${name} |`)) ?? ''
      return new Map(
        [...block.matchAll(/^\| (\d+) \| `(\w+)` \|/gm)].map(([, n, what]) => [Number(n), what ?? '']),
      )
    }
    this.#numbers = new Map(
      table(page, 'Values', 'number').map(({ number = '', value = '' }) => [
        number,
        Number(value.replaceAll(',', '')),
      ]),
    )
    this.#parts = table(page, 'File', 'part')
    this.#preamble = table(page, 'File', 'offset')
    this.#flags = table(page, 'File', 'bit')
    this.#fields = table(page, 'Header', 'field')
    this.#section = table(page, 'Body', 'part')
    this.#types = numbered('Body', 'type')
    this.#methods = numbered('Body', 'method')
    this.#kinds = numbered('Pages', 'kind')
    this.#hows = numbered('Pages', 'how')
    this.#stateParts = table(page, 'State', 'part')
  }

  read(file: Buffer, { keys, parent }: ReaderInput): ReadFile {
    const preamble: Fields = {}
    for (const { offset, type = '', field = '' } of this.#preamble) {
      const [name = '', value] = field.split(': ')
      const cursor = new Cursor(file.subarray(Number(offset)))
      if (/^[0-9a-f]{2} /.test(type)) {
        const magic = Buffer.from(type.replaceAll(' ', ''), 'hex')
        if (!cursor.bytes(magic.length).equals(magic)) throw new Error('Another magic.')
      } else preamble[name] = cursor.read(type)
      if (value !== undefined && name === 'version' && preamble[name] !== Number(value))
        throw new Error('Another version.')
    }
    const flags = new Set(
      this.#flags.filter(({ bit }) => (Number(preamble.flags) & Number(bit)) !== 0).map(({ flag }) => flag),
    )
    const parts: Record<string, Buffer> = {}
    let at = 0
    for (const { part = '', bytes = '', there = '' } of this.#parts) {
      const flag = /with the flag (\w+)/.exec(there)?.[1]
      if (flag !== undefined && !flags.has(flag)) continue
      const length = bytes in preamble ? Number(preamble[bytes]) : Number(bytes)
      parts[part] = file.subarray(at, at + length)
      at += length
    }
    if (at !== file.length) throw new Error('The parts do not fill the file.')
    const {
      digest,
      MAC: mac,
      header: headerBytes = Buffer.of(),
      body = Buffer.of(),
      preamble: first = Buffer.of(),
    } = parts
    const found = createHash('sha256').update(file.subarray(0, -32)).digest()
    if (digest === undefined || !found.equals(digest)) throw new Error('Another digest.')

    const header: Fields = {}
    const cursor = new Cursor(headerBytes)
    for (const { field = '', type = '', 'with the flag': flag } of this.#fields) {
      if (flag === '' || flags.has(flag)) header[field] = cursor.read(type)
    }
    if (!cursor.atEnd) throw new Error('Bytes follow the header.')
    const key = (id: unknown): Buffer => keys.get(String(id)) ?? Buffer.alloc(32)
    if (mac !== undefined) {
      const computed = createHmac('sha256', key(header.macKey))
        .update(Buffer.concat([first, headerBytes, body]))
        .digest()
      if (!computed.equals(mac)) throw new Error('Another MAC.')
    }
    const plain = flags.has('encrypted')
      ? decrypted(
          body,
          key(header.encryptionKey),
          header.nonce as Buffer,
          Buffer.concat([first, headerBytes]),
        )
      : body
    const { state, pages } = this.#readBody(plain, header, parent)
    if (this.root(pages) !== header.root) throw new Error('Another root.')
    return { id: `sha256:${found.toString('hex')}`, header, state, pages }
  }

  /** The root of these pages. */
  root(pages: ReadonlyMap<number, Buffer>): string {
    const groups = new Map<number, Buffer[]>()
    const pagesOfGroup = this.#number('pages of a group')
    for (const [index, page] of [...pages].sort(([a], [b]) => a - b)) {
      const group = Math.floor(index / pagesOfGroup)
      groups.set(group, [...(groups.get(group) ?? []), numbered32(index % pagesOfGroup), sha256(page)])
    }
    const parts = [...groups].flatMap(([group, content]) => [
      numbered32(group),
      sha256(Buffer.concat(content)),
    ])
    return `sha256:${sha256(Buffer.concat(parts)).toString('hex')}`
  }

  #number(name: string): number {
    const number = this.#numbers.get(name)
    if (number === undefined) throw new Error(`The document has no number "${name}".`)
    return number
  }

  #readBody(
    body: Buffer,
    header: Fields,
    parent: ReaderInput['parent'],
  ): { state: Buffer; pages: Map<number, Buffer> } {
    const cursor = new Cursor(body)
    const states: Buffer[] = []
    const pages = new Map(parent.pages)
    let last = -1
    while (!cursor.atEnd) {
      const section: Fields = {}
      for (const { part = '', type = '' } of this.#section) section[part] = cursor.read(type)
      const stored = cursor.bytes(Number(section.storedBytes))
      const method = this.#methods.get(Number(section.method))
      const raw = method === 'deflated' ? inflateRawSync(stored) : stored
      if (raw.length !== section.rawBytes) throw new Error('A section of another size.')
      const type = this.#types.get(Number(section.type))
      this.met.add(type ?? '').add(method ?? '')
      if (type === 'state') states.push(raw)
      else if (type === 'stateChanges') states.push(this.#changedState(raw, parent.state))
      else if (type === 'pages') last = this.#readPages(raw, pages, parent.pages, last)
      else throw new Error('An unknown section.')
    }
    const state = Buffer.concat(states)
    if (state.length !== header.stateBytes) throw new Error('A state of another size.')
    return { state, pages }
  }

  #changedState(changes: Buffer, before: Buffer): Buffer {
    const cursor = new Cursor(changes)
    const pieces: Buffer[] = []
    let inStep = 0
    while (!cursor.atEnd) {
      const step: Fields = {}
      for (const { part = '', type = '' } of this.#stateParts) {
        if (part === 'from' && step.copiedBytes === 0) continue
        const counted = type.endsWith(' bytes') ? Number(step[type.replace(' bytes', '')]) : undefined
        step[part] = counted === undefined ? cursor.read(type) : cursor.bytes(counted)
      }
      pieces.push(step.new as Buffer)
      inStep += Number(step.newBytes)
      const from = inStep + signed(Number(step.from ?? 0))
      pieces.push(before.subarray(from, from + Number(step.copiedBytes)))
      if (step.copiedBytes !== 0) inStep = from + Number(step.copiedBytes)
    }
    return Buffer.concat(pieces)
  }

  #readPages(
    section: Buffer,
    pages: Map<number, Buffer>,
    before: ReadonlyMap<number, Buffer>,
    lastIndex: number,
  ): number {
    const cursor = new Cursor(section)
    const recent: number[] = []
    let last = lastIndex
    while (!cursor.atEnd) {
      const head = cursor.varint()
      const index = last + 1 + Math.floor(head / 4)
      last = index
      const kind = this.#kinds.get(head % 4)
      this.met.add(kind ?? '')
      if (kind === 'zeros') pages.delete(index)
      else if (kind === 'literal')
        pages.set(index, Buffer.from(cursor.bytes(this.#number('bytes of a page'))))
      else if (kind === 'words') pages.set(index, this.#editedPage(cursor, index, before.get(index), recent))
      else throw new Error('An unknown kind of page.')
    }
    return last
  }

  #editedPage(cursor: Cursor, index: number, before: Buffer | undefined, recent: number[]): Buffer {
    const pageBytes = this.#number('bytes of a page')
    const page = before === undefined ? Buffer.alloc(pageBytes) : Buffer.from(before)
    let word = 0
    for (let runs = cursor.varint(); runs > 0; runs--) {
      const first = Number(cursor.read('u8'))
      const skip = Math.floor(first / 16)
      const more = first % 16
      word += skip === 15 ? 15 + cursor.varint() : skip
      const length = more === 15 ? 16 + cursor.varint() : more + 1
      for (const end = word + length; word < end; word++) {
        const token = cursor.varint()
        const number = Math.floor(token / 4)
        const how = this.#hows.get(token % 4)
        this.met.add(how ?? '')
        const value = {
          value: number,
          address: pageBytes * index + 4 * word + 4 * signed(number),
          previous: page.readUInt32LE(4 * word) + signed(number),
          recent: recent[number] ?? Number.NaN,
        }[how ?? '']
        if (value === undefined || Number.isNaN(value)) throw new Error('An unknown word.')
        const wrapped = value >>> 0
        page.writeUInt32LE(wrapped, 4 * word)
        if (wrapped >= this.#number('smallest recent word')) recent.unshift(wrapped)
        recent.length = Math.min(recent.length, this.#number('recent words'))
      }
    }
    return page
  }
}

/** Reads values by the names that the document gives their types. */
class Cursor {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  bytes(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new Error('The bytes end too early.')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  varint(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes(1)[0] ?? 0
      value += (byte % 128) * scale
      if (byte < 128) return value
    }
  }

  read(type: string): number | string | Buffer {
    switch (type) {
      case 'u8':
        return this.bytes(1).readUInt8()
      case 'u16':
        return this.bytes(2).readUInt16LE()
      case 'u32':
        return this.bytes(4).readUInt32LE()
      case 'varint':
        return this.varint()
      case 'text':
        return this.bytes(this.varint()).toString('utf8')
      case 'digest':
        return `sha256:${this.bytes(32).toString('hex')}`
      case 'time':
        return this.bytes(8).readDoubleLE()
      case 'label':
        return this.bytes(1)[0] === 1 ? 'secret' : 'plain'
      case 'nonce':
        return this.bytes(12)
      default:
        throw new Error(`The document uses a type "${type}" that it does not describe.`)
    }
  }
}

function decrypted(body: Buffer, key: Buffer, nonce: Buffer, additional: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonce)
    .setAAD(additional)
    .setAuthTag(body.subarray(-16))
  return Buffer.concat([decipher.update(body.subarray(0, -16)), decipher.final()])
}

/** 0, 1, 2, 3, 4 … as 0, -1, 1, -2, 2 …. */
function signed(number: number): number {
  return number % 2 === 0 ? number / 2 : -(number + 1) / 2
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function numbered32(number: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(number)
  return bytes
}
