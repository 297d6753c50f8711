/**
 * The descriptors of a preview-1 guest: small numbers, the lowest free one first, at most so many at once. The list is
 * the one in which the shim looks them up.
 */
import type { WASI } from '@bjorn3/browser_wasi_shim'
import { FileFailure } from '../files/file-failure.ts'
import { DirectoryFd } from './directory-fd.ts'
import { GuestFd } from './guest-fd.ts'

/** Numbers below are standard streams: a file never takes the place of one that was closed. */
const FIRST_FREE = 3

export class Descriptors {
  readonly #fds: WASI['fds']
  readonly #most: number

  constructor(fds: WASI['fds'], most: number) {
    this.#fds = fds
    this.#most = most
  }

  find(fd: number): GuestFd | undefined {
    const found = this.#fds[fd]
    return found instanceof GuestFd ? found : undefined
  }

  /** @throws FileFailure `bad-descriptor` */
  get(fd: number): GuestFd {
    const found = this.find(fd)
    if (found === undefined) throw new FileFailure('bad-descriptor')
    return found
  }

  /** @throws FileFailure `bad-descriptor`, `not-directory` */
  directory(fd: number, right: number): DirectoryFd {
    const found = this.get(fd)
    if (!(found instanceof DirectoryFd)) throw new FileFailure('not-directory')
    found.require(right)
    return found
  }

  /** @throws FileFailure `too-many-open`; ask before something is opened */
  requireRoom(): void {
    if (this.entries().length >= this.#most) throw new FileFailure('too-many-open')
  }

  add(fd: GuestFd): number {
    let number = FIRST_FREE
    while (this.#fds[number] !== undefined) number += 1
    this.#fds[number] = fd
    return number
  }

  put(number: number, fd: GuestFd): void {
    while (this.#fds.length < number) this.#leave(this.#fds.length)
    this.#fds[number] = fd
  }

  /** The shim's way to say that a number is free. */
  #leave(number: number): void {
    ;(this.#fds as unknown[])[number] = undefined
  }

  remove(number: number): void {
    this.#leave(number)
  }

  entries(): readonly (readonly [number: number, fd: GuestFd])[] {
    return this.#fds.flatMap((fd, number) => (fd instanceof GuestFd ? [[number, fd] as const] : []))
  }
}
