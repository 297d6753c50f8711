/** Puts granted capabilities into a guest that has not begun: on globals named by their namespaces. */
import { LOAD_MODULE } from '../machine/module-graph.ts'
import type { GuestCapability } from '../machine/turn.ts'
import { defineConstants, FAILED_NAME, LOADER_NAME } from './guest-modules.ts'
import { evaluateText, setProperty } from './guest-properties.ts'
import { HOST_FUNCTIONS } from './host-functions.ts'
import type { PooledInstance } from './instance-pool.ts'

/** The capabilities that the `fetch` of the library stands on. */
const NET_FETCH = 'net.fetch'
const READ_BODY = 'net.readBody'

/** @param functionFor gives an owned cell */
export function installCapabilities(
  pooled: PooledInstance,
  capabilities: readonly GuestCapability[],
  functionFor: (name: string, index: number) => number,
): void {
  const { instance, guest } = pooled
  const namespaces = new Map<string, number>()
  capabilities.forEach(({ name }, index) => {
    if (name === LOAD_MODULE) {
      defineLoader(pooled, functionFor(name, index))
      return
    }
    const path = name.split('.')
    const last = path.pop() ?? name
    let object = guest.global
    let key = ''
    for (const part of path) {
      key += `.${part}`
      let next = namespaces.get(key)
      if (next === undefined) {
        next = instance.exports.QTS_NewObject(guest.context)
        namespaces.set(key, next)
        setProperty(pooled, object, part, next)
      }
      object = next
    }
    const fn = functionFor(last, index)
    setProperty(pooled, object, last, fn)
    if (name === NET_FETCH) pooled.callAndFree(guest.lendFetch, fn)
    if (name === READ_BODY) pooled.callAndFree(guest.lendReadBody, fn)
    pooled.free(fn)
  })
  pooled.free(...namespaces.values())
}

/** Gives the modules of ours the functions by which they reach the host: constants, so that nothing replaces them. */
function defineLoader(pooled: PooledInstance, load: number): void {
  const { guest } = pooled
  const failed = pooled.newFunction('importFailed', HOST_FUNCTIONS.importFailed)
  setProperty(pooled, guest.global, LOADER_NAME, load)
  setProperty(pooled, guest.global, FAILED_NAME, failed)
  const defined = evaluateText(pooled, defineConstants(LOADER_NAME, FAILED_NAME), 0, 'caisson:loader')
  pooled.free(load, failed, defined)
}
