/** What is said of an export that there is not: which was probably meant, and which there are. */
import { clipText } from '../base/escape-text.ts'
import { nearNames } from '../capability/near-names.ts'

const MOST_NAMES = 20
const LONGEST_NAME = 200

/**
 * Two sentences at most, with a space before.
 * @param names those that can be called
 */
export function exportsText(wanted: string, names: readonly string[]): string {
  if (names.length === 0) return ' It exports nothing that can be called.'
  const own = functionIn(wanted)
  // A function by its name alone, or of another version of its interface.
  const near = names.find((name) => functionIn(name) === own) ?? nearNames(wanted, names)[0]
  const meant = near === undefined ? '' : ` Did you mean "${clipText(near, LONGEST_NAME)}"?`
  const more = names.length - MOST_NAMES
  const shown = names
    .slice(0, MOST_NAMES)
    .map((name) => clipText(name, LONGEST_NAME))
    .join(', ')
  return `${meant} It exports: ${shown}${more > 0 ? ` and ${more} more` : ''}.`
}

/** `example:shop/prices@1.0.0#lookup` is `lookup`. */
function functionIn(name: string): string {
  return name.slice(name.indexOf('#') + 1)
}
