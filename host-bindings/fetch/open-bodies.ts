/**
 * The bodies that guests have open, by guest.
 *
 * Invariants
 * 1. A body is found by the life of the guest that opened it, and by nothing else: its id is worth nothing to others.
 * 2. A life has at most so many at a time.
 * 3. A body is closed when its guest ends, and when nobody has read of it for a time.
 */
import type { GuestLife } from '../../src/capability/capability.ts'
import { bodyLost, type Chunk, type StreamedBody } from './streamed-body.ts'

export interface OpenBodiesOptions {
  /** At a time, of one guest. */
  readonly most: number
  /** Milliseconds without a read after which a body is closed. */
  readonly idleMs: number
}

interface Held {
  readonly body: StreamedBody
  /** Reads at work. */
  reads: number
  idle: ReturnType<typeof setTimeout> | undefined
}

export class OpenBodies {
  readonly #options: OpenBodiesOptions
  readonly #lives = new WeakMap<GuestLife, Map<string, Held>>()

  constructor(options: OpenBodiesOptions) {
    this.#options = options
  }

  /** Whether the guest may open one more. */
  hasRoom(life: GuestLife): boolean {
    return !life.ended && (this.#lives.get(life)?.size ?? 0) < this.#options.most
  }

  /** Keeps a body for the guest under an id of its own. Another one of this id is closed. */
  add(life: GuestLife, id: string, body: StreamedBody): void {
    this.close(life, id)
    const held: Held = { body, reads: 0, idle: undefined }
    this.#of(life).set(id, held)
    this.#rest(life, id, held)
  }

  /** @throws CaissonError `body_lost` where this guest has none of this id, and what the body's `read` throws */
  async read(
    life: GuestLife,
    id: string,
    { offset, whole, signal }: { offset: number; whole: boolean; signal: AbortSignal },
  ): Promise<Chunk> {
    const held = this.#lives.get(life)?.get(id)
    if (held === undefined) throw bodyLost()
    held.reads += 1
    clearTimeout(held.idle)
    try {
      const chunk = await held.body.read(offset, whole, signal)
      // Nobody gets an answer that comes too late: the read can be made again then.
      if (chunk.done && !signal.aborted) this.close(life, id)
      return chunk
    } finally {
      held.reads -= 1
      this.#rest(life, id, held)
    }
  }

  /** Does nothing where there is none. */
  close(life: GuestLife, id: string): void {
    const bodies = this.#lives.get(life)
    const held = bodies?.get(id)
    if (held === undefined) return
    bodies?.delete(id)
    clearTimeout(held.idle)
    held.body.close()
  }

  #of(life: GuestLife): Map<string, Held> {
    let bodies = this.#lives.get(life)
    if (bodies === undefined) {
      const opened = new Map<string, Held>()
      this.#lives.set(life, opened)
      life.onEnd(() => {
        for (const id of [...opened.keys()]) this.close(life, id)
      })
      bodies = opened
    }
    return bodies
  }

  #rest(life: GuestLife, id: string, held: Held): void {
    if (held.reads > 0 || this.#lives.get(life)?.get(id) !== held) return
    clearTimeout(held.idle)
    held.idle = setTimeout(() => this.close(life, id), this.#options.idleMs)
  }
}
