/**
 * How much linking one component may take. What is written once can be meant many times: a component that is
 * instantiated again and again, a type of instances behind many imports, or one that holds the one before it twice. So
 * what counts is what is linked, and not what is written.
 */
import { unsupportedInComponent } from '../binary/component-error.ts'

/** Definitions, declarations, and parts of types. The reader takes no more in one component either. */
const MOST_ITEMS = 200_000
/** Types of instances in one another, each of which takes frames of the host. */
const MOST_NESTING = 100

export class LinkWork {
  #items = 0
  #nesting = 0

  /** Before so many are made. @throws CaissonError `unsupported_feature` */
  take(items: number): void {
    this.#items += items
    if (this.#items > MOST_ITEMS)
      throw unsupportedInComponent(
        `more than ${MOST_ITEMS} definitions, counting each as often as it is meant`,
      )
  }

  /** @throws CaissonError `unsupported_feature`; what `act` throws */
  nested<T>(act: () => T): T {
    if (this.#nesting >= MOST_NESTING) throw unsupportedInComponent('instances nested that deep')
    this.#nesting += 1
    try {
      return act()
    } finally {
      this.#nesting -= 1
    }
  }
}
