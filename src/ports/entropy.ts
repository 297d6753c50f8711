/** A source of unpredictable bytes. One seed per isolate is drawn from it, recorded, and never shown to the guest. */
export interface Entropy {
  /** Fresh random bytes. `length` is at most 65,536. */
  bytes(length: number): Uint8Array
}
