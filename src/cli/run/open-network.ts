/** Capabilities of `--allow-net`. In a module of their own: a list of all public suffixes comes with them. */
import { createNodeFetchCapabilities } from '../../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
import { isPublicAddress, literalAddress } from '../../../host-bindings/fetch/public-address.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { Capability } from '../../capability/capability.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'

/** @throws CliError usage for hosts that cannot be granted */
export function openNetwork(hosts: readonly string[]): readonly Capability[] {
  for (const host of hosts) refuseUnreachable(host)
  try {
    return createNodeFetchCapabilities({ allow: hosts, allowPrivate: hosts.flatMap(privateAddress) })
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `--allow-net: ${error.message.replace(/; if it is meant, list it in allowPrivate too: .*/, '.')}`,
      hint: 'For example --allow-net api.example.com, --allow-net "*.example.com", --allow-net localhost:8080.',
      cause: error,
    })
  }
}

/** An address or `localhost` written out with its port is meant, public or not. A name that leads there is not. */
function privateAddress(host: string): readonly string[] {
  const [, address] = /^(?:https?:\/\/)?((?:localhost|[\d.]+|\[[0-9a-f:.]+\]):\d{1,5})$/i.exec(host) ?? []
  return address === undefined ? [] : [address.toLowerCase()]
}

/** A private address without a port would be granted and never reached. */
function refuseUnreachable(host: string): void {
  const [, name = ''] = /^(?:https?:\/\/)?(\[[^\]]*\]|[^:]*)(?::\*)?$/i.exec(host) ?? []
  const address = literalAddress(name)
  const isPrivate = name === 'localhost' || (address !== undefined && !isPublicAddress(address))
  if (!isPrivate) return
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--allow-net ${clipText(host, 200)}: private addresses are granted one port at a time.`,
    hint: `For example --allow-net ${clipText(name, 200)}:8080.`,
  })
}
