/**
 * When a guest stops that was given 100 ms and 64 MiB, in the host's own thread, whatever builtin it is in.
 *
 * The figure is from the call of `run` to its outcome, giving the memory back included. Deadline and figure are by the
 * CPU clock of the process (all its threads, the kernel's work for it included), which is the runtime's own clock here:
 * by wall time a busy machine would add the time in which others ran.
 */
import type { Suite } from '../harness/suite.ts'

export const DEADLINE_MS = 100
export const DEADLINE_MEMORY_BYTES: number = 64 * 1024 * 1024

/** Programs that only a deadline or the memory cap ends; each spends its time in another part of the engine. */
const ENDLESS: Readonly<Record<string, string>> = {
  'a bare loop': 'while (1);',
  'text of a sparse array': "new Array(1e9) + ''",
  'regular expression': "/(a+)+$/.test('a'.repeat(60) + 'b')",
  'stringify of a shared graph':
    'let x = {}; for (let i = 0; i < 40; i++) x = { a: x, b: x }; JSON.stringify(x)',
  'parse of a huge document': "const s = '[' + '1,'.repeat(5e5) + '1]'; for (;;) JSON.parse(s)",
  'eval of a huge source': "const s = '1' + '+1'.repeat(5e5); for (;;) eval(s)",
  indexOf: "const s = 'a'.repeat(1e6); for (;;) s.indexOf('b')",
  'reverse of an array-like': 'Array.prototype.reverse.call({ length: 2 ** 53 - 1 })',
  sort: 'for (;;) Array.from({ length: 1e5 }, (_, i) => (i * 7919) % 100003).sort()',
  'BigInt power': 'let b = 3n; for (;;) b = b * b % (2n ** 100000n)',
  'BigInt as text': 'const b = 7n ** 60000n; for (;;) String(b)',
  'typed array fill': 'const a = new Uint8Array(3e7); for (;;) a.fill(1)',
  'typed array copy': 'const a = new Uint8Array(3e7); for (;;) a.copyWithin(0, 1)',
  'buffer slice': 'const a = new ArrayBuffer(2e7); for (;;) a.slice(0)',
  'large allocations': 'for (;;) new Uint8Array(3e7)',
  'repeat of text': "for (;;) 'abc'.repeat(5e6)",
  'growing array': 'const a = []; for (;;) a.push([])',
  spread: 'const a = new Array(1e6).fill(1); for (;;) [...a, ...a]',
  'Map of strings': "const m = new Map(); for (let i = 0; ; i++) m.set('k' + (i % 1e5), i)",
  'normalised text': "const s = '\\u1e9b\\u0323'.repeat(1e5); for (;;) s.normalize('NFKC')",
}

export const deadline: Suite = {
  name: 'deadline',
  description: `How long a guest runs that was given ${DEADLINE_MS} ms and 64 MiB`,
  subjects: 'sandbox',
  bases: ['caisson'],
  cases: Object.entries(ENDLESS).map(([name, source]) => ({
    name,
    description: source,
    trialOf: (subject) =>
      subject.endless?.(source) ?? { unable: 'is not known to stop inside every builtin: not tried' },
  })),
}
