/**
 * Writes the checkpoints of the current format version that later versions must still read.
 *
 *     tsx scripts/make-checkpoint-fixture.ts
 *
 * Once for each version: what is there is never written over.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeCheckpointPorts as ports } from '../host-bindings/system/checkpoint-ports.node.ts'
import type { CheckpointHeader } from '../src/snapshot/container/checkpoint.ts'
import type { CheckpointKeys } from '../src/snapshot/container/checkpoint-keys.ts'
import { FORMAT_VERSION } from '../src/snapshot/container/container-format.ts'
import { encodeCheckpoint } from '../src/snapshot/container/encode-checkpoint.ts'
import { PAGE_BYTES, type PageChange, PageTree } from '../src/snapshot/page-tree.ts'

const folder = join(import.meta.dirname, `../test/fixtures/checkpoints/v${FORMAT_VERSION}`)
if (existsSync(join(folder, 'expected.json'))) {
  process.stderr.write(`${folder} is there already: it must stay as it is.\n`)
  process.exit(1)
}
mkdirSync(folder, { recursive: true })

const MEMORY_BYTES = 393_216
const macKey = { id: 'mac-2026', bytes: Uint8Array.from({ length: 32 }, (_, i) => i + 1) }
const encryptionKey = { id: 'encryption-2026', bytes: Uint8Array.from({ length: 32 }, (_, i) => 255 - i) }
const authenticated: CheckpointKeys = { mac: { current: macKey } }
const encrypted: CheckpointKeys = { ...authenticated, encryption: { current: encryptionKey } }

/** A page of these words at these places, over what it was. */
function edited(before: Uint8Array | undefined, words: readonly (readonly [number, number])[]): Uint8Array {
  const page = before?.slice() ?? new Uint8Array(PAGE_BYTES)
  const view = new DataView(page.buffer)
  for (const [at, value] of words) view.setUint32(4 * at, value, true)
  return page
}

function textPage(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text.repeat(PAGE_BYTES))
  return bytes.slice(0, PAGE_BYTES)
}

const everyWord = (word: (at: number) => number): (readonly [number, number])[] =>
  Array.from({ length: 1_024 }, (_, at) => [at, word(at)])

const base = PageTree.empty.with([
  [0, textPage('base image ')],
  [
    1,
    edited(
      undefined,
      everyWord((at) => PAGE_BYTES + 8 * (at % 100)),
    ),
  ],
  [70, edited(undefined, [[1_023, 0xffff_ffff]])],
])

const whole = base.with([
  [
    1,
    edited(base.page(1), [
      [0, 7],
      [1, 5_000],
      [2, 0xffff_fff9],
      [500, 0xffff_fff9],
    ]),
  ],
  [2, textPage('text that deflates ')],
  [
    3,
    edited(
      undefined,
      everyWord((at) => (at % 3 === 0 ? 1 : 3 * PAGE_BYTES + 8 * at)),
    ),
  ],
  [70, undefined],
  [
    95,
    edited(undefined, [
      [0, 31],
      [1, 32],
      [2, 33],
      [40, 0x8000_0000],
      [60, 32],
    ]),
  ],
])

const delta = whole.with([
  [
    1,
    edited(whole.page(1), [
      [0, 8],
      [1, 4_999],
      [1_023, 1],
    ]),
  ],
  [2, undefined],
  [
    64,
    edited(
      undefined,
      everyWord((at) => Math.imul(at, 0x9e37_79b1) >>> 0),
    ),
  ],
])

const secret = delta.with([
  [
    3,
    edited(delta.page(3), [
      [17, 0xdead_beef],
      [18, 0xdead_beef],
    ]),
  ],
  [5, textPage('a secret ')],
])

const text = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
const states = [
  text({ pending: [{ id: 1, capability: 'prices.lookup' }], clock: 1_767_225_600_000, note: 'first' }),
  text({ pending: [{ id: 2, capability: 'prices.lookup' }], clock: 1_767_225_600_005, note: 'second' }),
  text({
    pending: [
      { id: 2, capability: 'prices.lookup' },
      { id: 3, capability: 'vault.read' },
    ],
    clock: 1_767_225_600_009,
  }),
]

function headerOf(changes: Partial<CheckpointHeader>): Omit<CheckpointHeader, 'root'> {
  return {
    engine: 'quickjs-fixture',
    base: base.root(),
    tenant: 'Zoë & 日本',
    run: 'run-2026.1',
    principal: 'user:42',
    sequence: 1,
    links: 0,
    label: 'plain',
    takenAtMs: 1_767_225_600_000.25,
    memoryBytes: MEMORY_BYTES,
    ...changes,
  }
}

const first = await encodeCheckpoint(
  { header: headerOf({}), state: states[0] as Uint8Array, pages: whole },
  { pages: base },
  { ports, keys: authenticated },
)
const second = await encodeCheckpoint(
  {
    header: headerOf({ sequence: 2, links: 1, parent: first.id }),
    state: states[1] as Uint8Array,
    pages: delta,
  },
  { pages: whole, state: states[0] as Uint8Array },
  { ports, keys: authenticated },
)
const third = await encodeCheckpoint(
  {
    header: headerOf({
      sequence: 5,
      links: 2,
      parent: second.id,
      label: 'secret',
      memoryBytes: MEMORY_BYTES + 65_536,
    }),
    state: states[2] as Uint8Array,
    pages: secret,
  },
  { pages: delta, state: states[1] as Uint8Array },
  { ports, keys: encrypted },
)

/** The memory of a guest, byte by byte. */
function memoryOf(pages: PageTree, memoryBytes: number): Uint8Array {
  const memory = new Uint8Array(memoryBytes)
  for (const [index, page] of pages.pages()) memory.set(page, index * PAGE_BYTES)
  return memory
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const expected = [
  ['whole', first, states[0], whole],
  ['delta', second, states[1], delta],
  ['encrypted', third, states[2], secret],
] as const

const basePages: PageChange[] = [...base.pages()]
writeFileSync(join(folder, 'base.bin'), Buffer.concat(basePages.map(([, page]) => page as Uint8Array)))
for (const [name, { bytes }] of expected) writeFileSync(join(folder, `${name}.checkpoint`), bytes)
writeFileSync(
  join(folder, 'expected.json'),
  `${JSON.stringify(
    {
      keys: {
        mac: { id: macKey.id, hex: hex(macKey.bytes) },
        encryption: { id: encryptionKey.id, hex: hex(encryptionKey.bytes) },
      },
      basePages: basePages.map(([index]) => index),
      checkpoints: Object.fromEntries(
        expected.map(([name, { id, header }, state, pages]) => [
          name,
          {
            id,
            header,
            state: new TextDecoder().decode(state),
            memorySha256: hex(ports.hash.sha256(memoryOf(pages, header.memoryBytes))),
          },
        ]),
      ),
    },
    undefined,
    2,
  )}\n`,
)
