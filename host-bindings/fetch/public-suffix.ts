/**
 * Public suffixes by the list that browsers use, private ones (`github.io`) included.
 *
 * In a file of its own because the list is 50 KB compressed: only what allows wildcards needs it.
 */
import { getPublicSuffix } from 'tldts'

/** Whether anybody can register names directly below `domain`. Unknown top-level names count as such. */
export function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, { allowPrivateDomains: true }) === domain
}
