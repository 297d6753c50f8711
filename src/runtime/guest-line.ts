/**
 * Lets so many guests be at work at once; the others wait instead of failing, and no trust domain keeps the
 * others waiting: domains take turns, and inside of one it is first come first served.
 *
 * Invariants
 * 1. At most `most` guests are inside, of one domain at most `mostPerDomain`.
 * 2. Whoever leaves lets in the first one of the next domain in turn that may still have one.
 */
import { CaissonError } from '../base/errors.ts'

interface Place {
  /** Whether it is a guest that lives already: it is not refused when the runtime closes. */
  readonly living: boolean
  readonly enter: () => void
  readonly refuse: (error: CaissonError) => void
}

export class GuestLine {
  readonly #most: number
  readonly #mostPerDomain: number
  /** Who waits, by domain; the domain whose turn is next comes first. */
  readonly #waiting = new Map<string, Place[]>()
  /** Guests inside of each domain; only kept where there is a limit on it. */
  readonly #inDomain = new Map<string, number>()
  #inside = 0
  #closed = false

  constructor(most: number, mostPerDomain: number = Number.POSITIVE_INFINITY) {
    this.#most = most
    this.#mostPerDomain = mostPerDomain
  }

  /**
   * Resolves when there is room. Whoever entered must leave.
   * @throws CaissonError `aborted` when the signal fires while waiting, `disposed` when the runtime closes
   */
  enter(domain: string, signal?: AbortSignal): void | Promise<void> {
    if (this.#closed) throw closed()
    return this.#enter(domain, false, signal)
  }

  /** As `enter`, for a guest that lives already. */
  enterAgain(domain: string): void | Promise<void> {
    return this.#enter(domain, true)
  }

  #enter(domain: string, living: boolean, signal?: AbortSignal): void | Promise<void> {
    if (this.#hasRoom(domain)) {
      this.#count(domain, 1)
      return
    }
    if (signal?.aborted === true) throw aborted()
    return new Promise((resolve, reject) => {
      const place: Place = {
        living,
        enter: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
        refuse: (error) => {
          signal?.removeEventListener('abort', onAbort)
          reject(error)
        },
      }
      const onAbort = (): void => {
        this.#forget(domain, place)
        reject(aborted())
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      const places = this.#waiting.get(domain)
      if (places === undefined) this.#waiting.set(domain, [place])
      else places.push(place)
    })
  }

  leave(domain: string): void {
    this.#count(domain, -1)
    if (this.#waiting.size > 0) this.#letIn()
  }

  close(): void {
    this.#closed = true
    for (const [domain, places] of [...this.#waiting]) {
      for (const { living, refuse } of places) if (!living) refuse(closed())
      this.#keep(
        domain,
        places.filter(({ living }) => living),
      )
    }
  }

  #hasRoom(domain: string): boolean {
    return this.#inside < this.#most && (this.#inDomain.get(domain) ?? 0) < this.#mostPerDomain
  }

  #count(domain: string, by: 1 | -1): void {
    this.#inside += by
    if (this.#mostPerDomain === Number.POSITIVE_INFINITY) return
    const inside = (this.#inDomain.get(domain) ?? 0) + by
    if (inside === 0) this.#inDomain.delete(domain)
    else this.#inDomain.set(domain, inside)
  }

  #letIn(): void {
    for (const [domain, places] of this.#waiting) {
      if (!this.#hasRoom(domain)) continue
      const place = places.shift()
      this.#waiting.delete(domain)
      // Its next guest waits until the other domains have had their turn.
      if (places.length > 0) this.#waiting.set(domain, places)
      this.#count(domain, 1)
      place?.enter()
      return
    }
  }

  #forget(domain: string, place: Place): void {
    this.#keep(domain, this.#waiting.get(domain)?.filter((one) => one !== place) ?? [])
  }

  #keep(domain: string, places: Place[]): void {
    if (places.length > 0) this.#waiting.set(domain, places)
    else this.#waiting.delete(domain)
  }
}

function aborted(): CaissonError {
  return new CaissonError('aborted', 'The run was aborted while it waited for its turn.')
}

function closed(): CaissonError {
  return new CaissonError('disposed', 'The runtime was closed; open a new one.')
}
