/**
 * Queues of streams: first in, first out, with the sum of the sizes of what is in them.
 *
 * They are chains: no index of an array is ever written, so that no setter of `Array.prototype` is asked, and taking
 * the first of many costs what taking the first of few does. Of the base image, since each unit of streams needs them.
 */

export interface Link<T> {
  readonly value: T
  size: number
  next: Link<T> | undefined
}

export interface Chain<T> {
  first: Link<T> | undefined
  last: Link<T> | undefined
  length: number
  /** The sum of the sizes. */
  total: number
}

export interface Chains {
  readonly chain: <T>() => Chain<T>
  /** @throws RangeError for a size that is negative, infinite or no number */
  readonly push: <T>(chain: Chain<T>, value: T, size?: number) => void
  /** Takes the first value out; there is one. */
  readonly shift: <T>(chain: Chain<T>) => T
}

const Refusal = RangeError

export const chains: Chains = {
  chain: () => ({ first: undefined, last: undefined, length: 0, total: 0 }),
  push: <T>(chain: Chain<T>, value: T, size = 0) => {
    if (!(size >= 0 && size < 1 / 0)) throw new Refusal('The size of a chunk is a finite number from 0.')
    const link: Link<T> = { value, size, next: undefined }
    if (chain.last) chain.last.next = link
    else chain.first = link
    chain.last = link
    chain.length += 1
    chain.total += size
  },
  shift: <T>(chain: Chain<T>) => {
    const { next, size, value } = chain.first as Link<T>
    chain.first = next
    if (!next) chain.last = next
    chain.length -= 1
    chain.total -= size
    // Sums of fractions may come out below nothing.
    if (chain.total < 0) chain.total = 0
    return value
  },
}
