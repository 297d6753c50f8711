/**
 * Components that a runtime prepared, kept while it lives: what is opened again is not compiled again.
 *
 * Invariants
 * 1. What is kept is code and data that nothing changes: whoever opens it gets instances of their own.
 * 2. It is found by the digest of the component's bytes and by all that the result depends on. What came with a cache is
 *    found with the key of that cache alone: whoever has a key decides what is run where that key is used, and nowhere else.
 * 3. It is bounded, in number and in bytes of code. Those go first that were not used for the longest time.
 */
import type { PreparedComponent } from '../../component/prepare-component.ts'

export interface KeptComponent {
  /** Of its bytes. */
  readonly digest: string
  /** Where it waits, and whose word it is that it was prepared from those bytes. */
  readonly how: string
  readonly memoryBytes: number
  readonly engine: string
  readonly prepared: PreparedComponent
}

/** What a runtime has of them: made by whoever loads what opens components. */
export interface KeptComponents {
  prepared?: PreparedComponents
}

const MOST = 8
const MOST_LOOKED_AT = 1_000
/** The engine's own code takes several times as much. The one used last is kept, whatever its size. */
const MOST_BYTES: number = 128 * 1024 * 1024

export class PreparedComponents {
  /** The one used last stands last. */
  #kept: readonly KeptComponent[] = []

  readonly #fits = new Map<string, boolean>()

  /** Whether a component can be made to wait so; undefined where nobody has looked. */
  fits(key: string): boolean | undefined {
    return this.#fits.get(key)
  }

  setFits(key: string, fits: boolean): void {
    if (this.#fits.size >= MOST_LOOKED_AT) this.#fits.clear()
    this.#fits.set(key, fits)
  }

  /** Whether something was prepared from these bytes. */
  knows(digest: string): boolean {
    return this.#kept.some((one) => one.digest === digest)
  }

  /** The engine id of what was prepared so, which does not depend on memory. */
  engineOf(digest: string, how: string): string | undefined {
    return this.#kept.find((one) => one.digest === digest && one.how === how)?.engine
  }

  find(wanted: Pick<KeptComponent, 'digest' | 'how' | 'memoryBytes'>): PreparedComponent | undefined {
    const found = this.#kept.find((one) => isSame(one, wanted))
    if (found !== undefined) this.#kept = [...this.#kept.filter((one) => one !== found), found]
    return found?.prepared
  }

  keep(made: KeptComponent): void {
    const all = [...this.#kept.filter((one) => !isSame(one, made)), made].slice(-MOST)
    let bytes = 0
    const first = all.findLastIndex((one) => {
      bytes += codeBytes(one)
      return bytes > MOST_BYTES
    })
    this.#kept = all.slice(Math.min(first + 1, all.length - 1))
  }
}

function isSame(
  one: KeptComponent,
  { digest, how, memoryBytes }: Pick<KeptComponent, 'digest' | 'how' | 'memoryBytes'>,
): boolean {
  return one.digest === digest && one.how === how && one.memoryBytes === memoryBytes
}

function codeBytes({ prepared }: KeptComponent): number {
  return prepared.cores.reduce((sum, { manifest }) => sum + manifest.bytesOut, 0)
}
