/** `TextEncoderStream` and `TextDecoderStream` of the Encoding standard. */
import { bytesOf } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { EncodingExports } from './encoding.ts'
import type { Transforms } from './transform-streams.ts'

type Sides = ReturnType<Transforms['createTransform']>

const unit: Unit = ({ host, use }) => {
  const { createTransform } = use('transform-streams') as unknown as Transforms
  const { decodeNext, TextDecoder } = use('encoding') as unknown as EncodingExports

  class TextEncoderStream {
    readonly #sides: Sides

    constructor() {
      /** The first half of a pair of surrogates, whose other half may come. */
      let half = ''
      this.#sides = createTransform(
        (chunk, enqueue) => {
          const text = `${half}${chunk as string}`
          const last = text.charCodeAt(text.length - 1)
          half = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : ''
          const whole = half === '' ? text : text.slice(0, -1)
          if (whole !== '') enqueue(host.encodeText(whole))
        },
        (enqueue) => {
          if (half !== '') enqueue(host.encodeText(half))
        },
      )
    }

    get encoding(): string {
      void this.#sides
      return 'utf-8'
    }

    get readable(): object {
      return this.#sides.readable
    }

    get writable(): object {
      return this.#sides.writable
    }
  }

  class TextDecoderStream {
    readonly #sides: Sides
    readonly #decoder: InstanceType<EncodingExports['TextDecoder']>

    constructor(label: unknown = undefined, options: unknown = undefined) {
      const decoder = new TextDecoder(label, options)
      const give = (text: string, enqueue: (chunk: unknown) => void): void => {
        if (text !== '') enqueue(text)
      }
      this.#decoder = decoder
      this.#sides = createTransform(
        (chunk, enqueue) => give(decodeNext(decoder, bytesOf(chunk, 'TextDecoderStream'), true), enqueue),
        (enqueue) => give(decodeNext(decoder, undefined, false), enqueue),
      )
    }

    get encoding(): string {
      return this.#decoder.encoding
    }

    get fatal(): boolean {
      return this.#decoder.fatal
    }

    get ignoreBOM(): boolean {
      return this.#decoder.ignoreBOM
    }

    get readable(): object {
      return this.#sides.readable
    }

    get writable(): object {
      return this.#sides.writable
    }
  }

  return { TextDecoderStream, TextEncoderStream }
}
export default unit
