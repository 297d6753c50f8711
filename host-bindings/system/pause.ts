/** A short pause, in which the host's timers, sockets and input have their turn. */

/**
 * By a message to ourselves: timers of zero wait for 4 ms in pages, and for a second in hidden ones. The channel is
 * closed again, since an open one keeps a process of Node alive.
 */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof MessageChannel === 'undefined') {
      setTimeout(resolve, 0)
      return
    }
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}
