/** `atob` and `btoa`, as HTML has them (forgiving-base64 of the Infra standard). */
import { requireArguments } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { DOMExceptionExports } from './dom-exception.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

const unit: Unit = ({ use }) => {
  const invalid = (message: string): Error => {
    const { DOMException } = use('dom-exception') as unknown as DOMExceptionExports
    return new DOMException(message, 'InvalidCharacterError')
  }
  return {
    /** @throws InvalidCharacterError for a character above U+00FF */
    btoa(data: unknown): string {
      requireArguments(arguments.length, 1, 'btoa')
      const text = `${data as string}`
      let out = ''
      for (let i = 0; i < text.length; i += 3) {
        const a = text.charCodeAt(i)
        const b = text.charCodeAt(i + 1)
        const c = text.charCodeAt(i + 2)
        if (a > 255 || b > 255 || c > 255) throw invalid('btoa takes characters up to U+00FF only.')
        const bits = (a << 16) | (b << 8) | c
        out += ALPHABET[bits >> 18] as string
        out += ALPHABET[(bits >> 12) & 63] as string
        out += i + 1 < text.length ? (ALPHABET[(bits >> 6) & 63] as string) : '='
        out += i + 2 < text.length ? (ALPHABET[bits & 63] as string) : '='
      }
      return out
    },

    /** @throws InvalidCharacterError for what is no base64 */
    atob(data: unknown): string {
      requireArguments(arguments.length, 1, 'atob')
      let text = `${data as string}`.replace(/[\t\n\f\r ]+/g, '')
      if (text.length % 4 === 0) text = text.replace(/={1,2}$/, '')
      if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw invalid('atob takes base64 only.')
      let out = ''
      let bits = 0
      let count = 0
      for (let i = 0; i < text.length; i += 1) {
        bits = ((bits << 6) | ALPHABET.indexOf(text[i] as string)) & 0xffffff
        count += 6
        if (count >= 8) {
          count -= 8
          out += String.fromCharCode((bits >> count) & 255)
        }
      }
      return out
    },
  }
}
export default unit
