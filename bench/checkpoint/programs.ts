/** The guests of the checkpoint suite. Each waits on `bench.next` between its steps, which take what they are told. */

/** Bytes of a page of the engine's memory, as checkpoints count them. */
const PAGE_BYTES = 4_096

/** A step of a small guest: some objects are made, some forgotten, a number counted. Statements of an async function. */
export const SMALL_STEPS = `
const orders = new Map()
let total = 0
for (let i = 0; ; i++) {
  const price = await bench.next(i)
  orders.set('order ' + (i % 64), { i, price })
  total += price
}`

/** A guest that has done nothing but ask for its first number. */
export const FIRST_QUESTION = `
const orders = []
orders.push({ item: 'first', price: await bench.next(0) })
orders.length`

/**
 * A guest that holds `bytes` of data no compressor finds anything in, and writes into some pages of it in each step.
 * @param everyPages 1 for all of its pages, 2 for every other one
 */
function largeSteps(bytes: number, everyPages: number): string {
  return `
const data = new Uint8Array(${bytes})
let seed = 1
for (let i = 0; i < 65536; i++) {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  data[i] = seed >>> 24
}
for (let done = 65536; done < data.length; done *= 2) data.copyWithin(done, 0, done)
const words = new Uint32Array(data.buffer)
const pageWords = ${PAGE_BYTES / 4}
// No page is like another one.
for (let at = 0; at < words.length; at += pageWords) words[at] = at
for (let i = 0; ; i++) {
  await bench.next(i)
  for (let at = 1 + (i % 1000); at < words.length; at += ${everyPages} * pageWords) words[at] = i
}`
}

/** 16 MB, of which a step writes into `pages` pages, beside those that the engine itself works in. */
export function fewPagesOf16MB(pages: number): string {
  const bytes = 15 * 2 ** 20
  return largeSteps(bytes, Math.floor(bytes / PAGE_BYTES / pages))
}

/** 32 MB, and a step writes into every page. */
export const ALL_PAGES_OF_32_MB: string = largeSteps(31 * 2 ** 20, 1)
