/** Methods of `ReadableStream` that most programs do not call: each does its work in a unit of its own. */
import type { Unit } from '../host.ts'
import type { Readables, StreamCore } from '../stream-parts.ts'
import type { StreamIteration } from './stream-iteration.ts'
import type { StreamPipes } from './stream-pipes.ts'
import type { StreamTee } from './stream-tee.ts'

const unit: Unit = ({ use }) => {
  const { promised } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { readableOf } = readables
  const pipes = (): StreamPipes => use('stream-pipes') as unknown as StreamPipes
  const iteration = (): StreamIteration => use('stream-iteration') as unknown as StreamIteration

  const methods = {
    from(iterable: unknown): object {
      return iteration().from(iterable)
    },
    pipeThrough(transform: unknown, options: unknown = undefined): unknown {
      return pipes().pipeThrough(readableOf(this), transform, options)
    },
    pipeTo(destination: unknown, options: unknown = undefined): Promise<unknown> {
      return promised(() => pipes().pipeTo(readableOf(this), destination, options))
    },
    tee(): readonly [object, object] {
      return (use('stream-tee') as unknown as StreamTee).tee(readableOf(this))
    },
    values(options: unknown = undefined): object {
      return iteration().values(readableOf(this), options)
    },
  }
  return { ...methods, [Symbol.asyncIterator]: methods.values }
}
export default unit
