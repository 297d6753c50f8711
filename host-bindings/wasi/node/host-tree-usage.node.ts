/**
 * By how much the guest has made a real directory grow, and the numbers by which it tells files apart.
 *
 * A file that is removed while it is open still takes its room: it is given back when the last descriptor is closed.
 */
import type { Stats } from 'node:fs'
import { TreeUsage, type WasiTreeQuota } from '../files/memory-node.ts'

interface OpenFile {
  opens: number
  /** No name leads to it any more. */
  isRemoved: boolean
}

export class HostTreeUsage {
  readonly usage: TreeUsage
  readonly #numbers = new Map<string, bigint>()
  readonly #open = new Map<string, OpenFile>()

  constructor(quota: WasiTreeQuota) {
    this.usage = new TreeUsage(quota)
  }

  /** In the order in which the guest met them: the host's own numbers are not its business. */
  inodeOf(stat: Stats): bigint {
    const key = keyOf(stat)
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = BigInt(this.#numbers.size + 1)
    this.#numbers.set(key, number)
    return number
  }

  opened(stat: Stats): void {
    const key = keyOf(stat)
    const file = this.#open.get(key) ?? { opens: 0, isRemoved: false }
    file.opens += 1
    this.#open.set(key, file)
  }

  closed(stat: Stats): void {
    const key = keyOf(stat)
    const file = this.#open.get(key)
    if (file === undefined) return
    file.opens -= 1
    if (file.opens > 0) return
    this.#open.delete(key)
    if (file.isRemoved) this.usage.removeEntry(stat.size)
  }

  /** One name of it is gone; `stat` is from before. */
  removed(stat: Stats): void {
    const file = this.#open.get(keyOf(stat))
    if (stat.isFile() && stat.nlink > 1) this.usage.removeEntry(0)
    else if (file === undefined) this.usage.removeEntry(stat.isFile() ? stat.size : 0)
    else file.isRemoved = true
  }
}

function keyOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`
}
