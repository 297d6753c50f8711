/**
 * Keeps what was prepared, between processes and for several of them.
 *
 * Nothing that it gives is believed (`component/core/prepared-cache.ts`), and it may lose whatever it likes: what is
 * missing is prepared again.
 */
export interface PreparedStore {
  /**
   * What was put under the name, whole, or undefined.
   *
   * @param name 64 lower-case hexadecimal digits
   * @param mostBytes what is larger is not there
   */
  get(name: string, mostBytes: number): Promise<Uint8Array | undefined>
  /**
   * Puts or replaces: whoever gets the name meanwhile gets all of the old bytes or all of the new ones. It may drop
   * others to make room, or these.
   *
   * @param bytes not to be changed before it resolves, nor kept after
   */
  put(name: string, bytes: Uint8Array): Promise<void>
}
