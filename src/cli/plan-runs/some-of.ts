/** The first of texts that may be thousands, and how many there are beside. */
export function someOf(texts: readonly string[], most: number): string {
  const rest = texts.length - most
  return `${texts.slice(0, most).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
