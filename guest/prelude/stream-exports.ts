/** What the unit `streams` gives to other units, beside its globals. */
export interface StreamExports {
  /** Whether it is a `ReadableStream`. Where the unit is not `loaded`, nothing is. */
  readonly isStream: (value: unknown) => boolean
  /** Whether it was ever read from or cancelled. @throws TypeError for what is no stream */
  readonly isDisturbed: (stream: object) => boolean
  /** @throws TypeError for what is no stream */
  readonly isLocked: (stream: object) => boolean
}

/** What the unit `stream-bodies` gives to them. */
export interface StreamBodies {
  /**
   * A `ReadableStream` of bytes (of type `bytes`) that holds nothing back: `pull` is called when somebody reads, and
   * not again before what it gave is settled.
   * @param pull gives the next bytes, whose buffer is given away with them; undefined at the end. Bytes that are there
   *   are not waited for
   * @param cancel is called at most once, and never after the end
   */
  readonly streamOf: (
    pull: () => Uint8Array | undefined | Promise<Uint8Array | undefined>,
    cancel: (reason: unknown) => void | Promise<void>,
  ) => object
  /**
   * Reads a stream to its end, and leaves it locked. No promise is resolved with the bytes, so that nothing that a
   * guest puts on `Object.prototype` sees them.
   * @param give takes all bytes, in a buffer of their own; what it throws goes to `fail`
   * @param fail takes what the stream ends with, or a TypeError for a chunk that is no `Uint8Array`
   * @throws TypeError for what is no stream, or is locked
   */
  readonly readAll: (
    stream: object,
    give: (bytes: Uint8Array) => void,
    fail: (reason: unknown) => void,
  ) => void
  /** Lets a stream that was made by `streamOf` fail at once, whether anybody reads or not. */
  readonly failStream: (stream: object, reason: unknown) => void
  /** Two streams of the same chunks; bytes are copied for the second. @throws TypeError for what is no stream, or is locked */
  readonly tee: (stream: object) => readonly [object, object]
}
