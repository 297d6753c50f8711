/**
 * Locks between tabs and workers of one origin, which the browser takes back from those that die.
 *
 * Where there are none (Web Locks need a secure context), `available` is false, and a holder that died is only noticed
 * by its silence.
 */

/** A lock that is held. */
export interface TabLock {
  /** Whether somebody took it by force. */
  readonly stolen: boolean
  release(): void
}

export interface TabLocks {
  readonly available: boolean
  /** The lock, or undefined while somebody lives who holds it. */
  take(name: string): Promise<TabLock | undefined>
  /** Whether somebody lives who holds it. */
  isTaken(name: string): Promise<boolean>
  /** The lock, whoever holds it. */
  steal(name: string): Promise<TabLock | undefined>
}

/** The locks of this browser. */
export function tabLocks(): TabLocks {
  const locks: LockManager | undefined = globalThis.navigator?.locks
  if (locks === undefined) {
    const none = { stolen: false, release: () => {} }
    return { available: false, take: async () => none, isTaken: async () => false, steal: async () => none }
  }
  return {
    available: true,
    take: (name) => hold(locks, name, { ifAvailable: true }),
    isTaken: async (name) => (await locks.query()).held?.some((held) => held.name === name) === true,
    steal: (name) => hold(locks, name, { steal: true }),
  }
}

function hold(locks: LockManager, name: string, options: LockOptions): Promise<TabLock | undefined> {
  return new Promise((resolve, reject) => {
    let stolen = false
    let taken = false
    const held = locks.request(name, options, (lock) => {
      if (lock === null) {
        resolve(undefined)
        return
      }
      taken = true
      // The browser holds the lock as long as this promise is pending.
      return new Promise<void>((release) => {
        resolve({
          get stolen() {
            return stolen
          },
          release,
        })
      })
    })
    held.catch((error: unknown) => {
      if (taken) stolen = true
      else
        reject(error instanceof Error ? error : new Error('The lock cannot be asked for.', { cause: error }))
    })
  })
}
