/** After every attack of a file: no rejection that would have killed the process, and no prototype of the host changed. */
import { afterEach, beforeEach } from 'vitest'

function sketchPrototypes(): string {
  return [Object, Array, Promise, Map, Set, Error, Function, String]
    .map(({ prototype }) => Reflect.ownKeys(prototype).map(String).sort().join())
    .join('\n')
}

/** Watches around each test of the calling file; what was done to the host fails the test that did it. */
export function watchHost(): void {
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown): void => void unhandled.push(error)
  let prototypes = ''
  beforeEach(() => {
    prototypes = sketchPrototypes()
    process.on('unhandledRejection', onUnhandled)
  })
  afterEach(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    process.off('unhandledRejection', onUnhandled)
    const rejections = unhandled.splice(0)
    if (rejections.length > 0) throw new Error('A rejection was left unhandled.', { cause: rejections[0] })
    if (sketchPrototypes() !== prototypes) throw new Error('A prototype of the host was changed.')
  })
}
