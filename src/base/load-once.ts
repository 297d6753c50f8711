/** What is brought at its first use, once: also what is at hand takes its time to be asked for. */

/**
 * What came is kept, and not the promise of it: what failed is asked for again, and edge workers refuse promises of other
 * requests.
 */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: { readonly value: T } | undefined
  return async () => {
    if (loaded === undefined) {
      const value = await load()
      loaded ??= { value }
    }
    return loaded.value
  }
}
