/** `navigator`: what runs here, for programs that ask, and nothing of the host. */
import type { Unit } from '../host.ts'

/** The major version is that of `package.json`. */
const USER_AGENT = 'Caisson/0'

const unit: Unit = () => {
  let isOurs = false
  class Navigator {
    readonly #own = isOurs

    constructor() {
      if (!isOurs) throw new TypeError('Illegal constructor')
    }

    get userAgent(): string {
      return this.#own ? USER_AGENT : ''
    }
  }
  isOurs = true
  const navigator = new Navigator()
  isOurs = false
  return { navigator, Navigator }
}
export default unit
