/** A server on this machine, and a runtime whose guests may fetch from it. */
import {
  openTestServer,
  type TestHandler,
  type TestServer,
} from '../../host-bindings/fetch/http-server.testkit.ts'
import {
  createNodeFetchCapabilities,
  type NodeFetchOptions,
} from '../../host-bindings/fetch/node/node-fetch-capabilities.node.ts'
import { createWebFetchCapabilities } from '../../host-bindings/fetch/web-fetch-capabilities.ts'
import {
  type Capability,
  capability,
  type Outcome,
  openRuntime,
  type Runtime,
  type RuntimeOptions,
} from '../../src/entry/node.ts'

/** Server, binding and runtime, closed by `closeNets`. */
export interface Net {
  readonly runtime: Runtime
  readonly net: readonly Capability[]
  readonly origin: string
  readonly server: TestServer
}

const open: AsyncDisposable[] = []

/** Closes what was opened since. Call it after each test. */
export async function closeNets(): Promise<void> {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]()
}

/** The binding of `net.fetch` for one server. */
export function netFor(server: TestServer, options: Partial<NodeFetchOptions> = {}): readonly Capability[] {
  const address = `127.0.0.1:${server.port}`
  return createNodeFetchCapabilities({ allow: [address], allowPrivate: [address], ...options })
}

/**
 * Opens them.
 * @param told called by `test.tell` of guests
 */
export async function openNet(
  handler: TestHandler,
  options: Partial<NodeFetchOptions> = {},
  told: (what: unknown) => unknown = () => null,
  runtimeOptions: RuntimeOptions = {},
): Promise<Net> {
  const server = await openTestServer(handler)
  open.push(server)
  const net = netFor(server, options)
  const tell = capability({
    name: 'test.tell',
    description: 'Tells the test something',
    effect: 'write',
    invoke: async (what: unknown) => (await told(what)) ?? null,
  })
  const runtime = await openRuntime({ ...runtimeOptions, capabilities: [...net, tell] })
  open.push(runtime)
  return { runtime, net, origin: server.origin, server }
}

/**
 * A guest that fetches and reads nothing, again and again, from a server that is not there.
 * @returns how many bodies were open at most, and how many still are
 */
export async function hoard(
  answers: number,
): Promise<{ readonly outcome: Outcome; readonly most: number; readonly left: number }> {
  let opened = 0
  let most = 0
  const fetch = async (): Promise<Response> => {
    let pulls = 0
    let isOpen = true
    const close = (): void => {
      if (isOpen) opened -= 1
      isOpen = false
    }
    opened += 1
    most = Math.max(most, opened)
    const pull = (controller: ReadableStreamDefaultController): void => {
      pulls += 1
      if (pulls <= 3)
        controller.enqueue(new Uint8Array(66_000)) // two of them are more than is read ahead
      else {
        controller.close()
        close()
      }
    }
    return new Response(new ReadableStream({ pull, cancel: close }))
  }
  const capabilities = createWebFetchCapabilities({ allow: ['example.com'], fetch })
  const runtime = await openRuntime({ capabilities })
  const source = `
    for (let left = input; left > 0; left -= 50) await Promise.all(Array.from({ length: 50 }, () => fetch('https://example.com/')))
    return 'done'`
  const limits = { calls: 20_000, bytesIn: 2 ** 31, wallMs: 600_000, fuel: 2 ** 52 }
  try {
    // What is looked at is what holds where nobody stops a guest that repeats itself.
    const options = { input: answers, grants: ['net.fetch'], limits, guard: false } as const
    const outcome = await runtime.run(source, options)
    await new Promise((resolve) => setTimeout(resolve, 0))
    return { outcome, most, left: opened }
  } finally {
    await runtime.close()
  }
}
