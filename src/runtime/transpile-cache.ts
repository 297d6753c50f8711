/**
 * What was made of sources, so that none is read twice.
 *
 * Invariants
 * 1. Trust domains share nothing: whether a source was read before can be seen by the time that it takes.
 * 2. What is kept is bounded, in each domain and in all; the least recently used goes first.
 *
 * The source itself is the key: a digest of it takes longer than everything else that is done for a source that is
 * known. What makes something of it is the same for the life of a process.
 */
import type { Transpilation } from '../isolate/transpiler.ts'

const MOST_DOMAINS = 32
const MOST_SOURCES = 256
/** UTF-16 units of the sources of a domain. What was made of them is about as long. */
const MOST_CHARACTERS = 4_000_000

/** What is known of a source. */
export interface KnownSource {
  /** Whether the engine's parser takes it as JavaScript; undefined if nobody asked. */
  readonly isJavaScript?: boolean
  /** What it is as TypeScript. */
  readonly transpiled?: Transpilation
}

interface DomainSources {
  readonly known: Map<string, KnownSource>
  characters: number
}

export class TranspileCache {
  readonly #domains = new Map<string, DomainSources>()

  get(domain: string, source: string): KnownSource {
    const sources = this.#domains.get(domain)
    const found = sources?.known.get(source)
    if (sources === undefined || found === undefined) return {}
    // Used last stands last.
    sources.known.delete(source)
    sources.known.set(source, found)
    return found
  }

  /** Adds to what is known. */
  learn(domain: string, source: string, news: KnownSource): void {
    if (source.length > MOST_CHARACTERS) return
    const sources = this.#domain(domain)
    const before = sources.known.get(source)
    if (before === undefined) sources.characters += source.length
    else sources.known.delete(source)
    sources.known.set(source, { ...before, ...news })
    for (const [oldest] of sources.known) {
      if (sources.known.size <= MOST_SOURCES && sources.characters <= MOST_CHARACTERS) return
      sources.known.delete(oldest)
      sources.characters -= oldest.length
    }
  }

  clear(): void {
    this.#domains.clear()
  }

  #domain(domain: string): DomainSources {
    const sources = this.#domains.get(domain) ?? { known: new Map(), characters: 0 }
    this.#domains.delete(domain)
    this.#domains.set(domain, sources)
    for (const [oldest] of this.#domains) {
      if (this.#domains.size <= MOST_DOMAINS) break
      this.#domains.delete(oldest)
    }
    return sources
  }
}
