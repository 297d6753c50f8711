/** A thread that runs code of ours, and what is said to it: the same for `worker_threads` and web Workers. */
export interface WorkerPort {
  /**
   * Messages are structured-cloned; WebAssembly modules and shared memory may be among them.
   *
   * @param moved buffers of the message that are handed over instead of being copied: the sender has them no more
   */
  post(message: unknown, moved?: readonly ArrayBuffer[]): void
  /** Replaces earlier listeners. `onFailure` is called when the thread itself died. */
  listen(onMessage: (message: unknown) => void, onFailure: (error: unknown) => void): void
  /** Ends the thread at once, whatever it is doing; resolves when it has ended. */
  terminate(): Promise<void>
}
