/** Integers in a typed array that grows: what flat tables of instructions, blocks and edges are made of. */

/** A list of 32-bit integers. */
export class IntList {
  items: Int32Array = new Int32Array(64)
  length = 0

  push(value: number): void {
    if (this.length === this.items.length) {
      const grown = new Int32Array(this.length * 2)
      grown.set(this.items)
      this.items = grown
    }
    this.items[this.length++] = value
  }

  at(index: number): number {
    return this.items[index] as number
  }

  top(): number {
    return this.items[this.length - 1] as number
  }
}
