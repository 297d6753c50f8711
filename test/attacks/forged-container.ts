/** Containers as an attacker would make them: any header, any body, with a digest that is right. */
import { ByteWriter } from '../../src/base/byte-writer.ts'
import type { Digest } from '../../src/base/digest.ts'
import { digestOf } from '../../src/base/digest.ts'
import type { CheckpointKey } from '../../src/snapshot/container/checkpoint-keys.ts'
import { BASE, headerOf, ports } from '../../src/snapshot/container/container.testkit.ts'
import { FLAG } from '../../src/snapshot/container/container-format.ts'
import { joinContainer, joinHead } from '../../src/snapshot/container/container-parts.ts'
import { type ContainerHeader, encodeHeader } from '../../src/snapshot/container/header-codec.ts'
import { Pacer } from '../../src/snapshot/container/pacer.ts'

export interface Forgery {
  readonly header?: Partial<ContainerHeader>
  /** The encoded header, in place of one that is encoded. */
  readonly headerBytes?: Uint8Array
  readonly body?: Uint8Array
  readonly flags?: number
  /** What the preamble says, where it lies. */
  readonly bodyBytes?: number
  /** Of somebody who has a key. */
  readonly key?: CheckpointKey
}

export interface Forged {
  readonly id: Digest
  readonly bytes: Uint8Array
}

/** A container that says that nothing changed since the base image, but for what the forgery says. */
export function forge(forgery: Forgery): Promise<Forged> {
  const { body = new Uint8Array(0), key } = forgery
  const header: ContainerHeader = {
    ...headerOf(),
    stateBytes: 0,
    pages: 0,
    ...(key && { macKey: key.id }),
    ...forgery.header,
  }
  const flags =
    forgery.flags ??
    (header.parent === undefined ? 0 : FLAG.delta) |
      (key === undefined ? 0 : FLAG.authenticated) |
      (header.nonce === undefined ? 0 : FLAG.encrypted)
  const head = joinHead(flags, forgery.headerBytes ?? encodeHeader(header), forgery.bodyBytes ?? body.length)
  return joinContainer(head, [body], key, ports.hash, new Pacer(ports.pause))
}

/** The bytes with the digest that they now have. */
export function resealed(bytes: Uint8Array): Forged {
  const copy = bytes.slice()
  const digest = ports.hash.sha256(copy.subarray(0, -32))
  copy.set(digest, copy.length - 32)
  return { id: digestOf(digest), bytes: copy }
}

/** A body of these sections. */
export function sectionsOf(...sections: readonly SectionParts[]): Uint8Array {
  const writer = new ByteWriter()
  for (const { type, method = 0, bytes, rawBytes = bytes.length, storedBytes = bytes.length } of sections) {
    writer.byte(type)
    writer.byte(method)
    writer.varint(rawBytes)
    writer.varint(storedBytes)
    writer.raw(bytes)
  }
  return writer.finish()
}

export interface SectionParts {
  readonly type: number
  readonly method?: number
  readonly bytes: Uint8Array
  readonly rawBytes?: number
  readonly storedBytes?: number
}

/** The root of the base image, that of a container which says that nothing changed. */
export const BASE_ROOT: Digest = BASE.root()

/** Sizes of the byte arrays that were made by their length. */
export interface Allocations {
  readonly sizes: readonly number[]
  stop(): void
}

/** Notes what is allocated from now on. */
export function watchAllocations(): Allocations {
  const sizes: number[] = []
  const original = globalThis.Uint8Array
  globalThis.Uint8Array = new Proxy(original, {
    construct(target, args: unknown[], newTarget) {
      if (typeof args[0] === 'number') sizes.push(args[0])
      return Reflect.construct(target, args, newTarget) as object
    },
  })
  return {
    sizes,
    stop: () => {
      globalThis.Uint8Array = original
    },
  }
}
