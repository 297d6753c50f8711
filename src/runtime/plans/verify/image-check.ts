/** Whether the image that a head names shows what the journal leads to, at the place that it says. */
import type { Digest } from '../../../base/digest.ts'
import { sha256 } from '../../../base/digest.ts'
import { CaissonError } from '../../../base/errors.ts'
import { encodeImage } from '../../../graph/run/image-of-state.ts'
import type { RunState } from '../../../graph/run/run-state.ts'
import { IMAGE_LIMITS } from '../../../journal/journal-image.ts'
import type { RunOwner } from '../../run-owner.ts'
import { readImage, type StandingImage } from '../load-image.ts'
import { PlanShelf } from '../plan-record.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import { namedImage } from '../value-shelves.ts'
import type { Difference } from './difference.ts'

export class ImageCheck {
  readonly #parts: Pick<PlanRunParts, 'store' | 'sealing'>
  readonly #owner: RunOwner
  #image: StandingImage | undefined
  difference: Difference | undefined

  constructor(parts: Pick<PlanRunParts, 'store' | 'sealing'>, owner: RunOwner) {
    this.#parts = parts
    this.#owner = owner
  }

  /** @throws CaissonError `store_failed` */
  async read(): Promise<void> {
    const named = namedImage(await this.#parts.store.head(this.#owner.run))
    if (named === undefined) return
    try {
      // Read again, and not from what this process remembers.
      this.#image = await readImage({ ...this.#parts, plans: new PlanShelf() }, this.#owner, named)
    } catch (error) {
      if (!CaissonError.is(error) || error.code === 'store_failed') throw error
      this.#differs(named.length, `The image of it cannot be used: ${error.message}`)
    }
  }

  /** @param state after an event. @param digest of the entry of that event */
  check(state: RunState, digest: Digest | undefined): void {
    const image = this.#image
    if (image === undefined || image.end.length !== state.events) return
    if (image.end.digest !== digest)
      this.#differs(state.events, 'The image of it was made of another journal.', image.end.digest, digest)
    else {
      const [shown, folded] = [digestOfState(image.state), digestOfState(state)]
      if (shown !== folded)
        this.#differs(state.events, 'The image of it shows something else than its events.', shown, folded)
    }
  }

  #differs(length: number, what: string, recorded?: Digest, found?: Digest): void {
    this.difference = {
      of: 'image',
      position: Math.max(0, length - 1),
      ...(recorded && { recorded }),
      ...(found && { found }),
      message: `Entry ${length - 1}: ${what}`,
    }
  }
}

function digestOfState(state: RunState): Digest {
  return sha256(encodeImage(state, IMAGE_LIMITS))
}
