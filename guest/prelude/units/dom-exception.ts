/** `DOMException` of Web IDL. */
import { define } from '../define.ts'
import type { Unit } from '../host.ts'

/** Names in the order of their legacy codes, from 1, without `Error`. Holes are names that are no more. */
const NAMES =
  'IndexSize,,HierarchyRequest,WrongDocument,InvalidCharacter,,NoModificationAllowed,NotFound,NotSupported,InUseAttribute,InvalidState,Syntax,InvalidModification,Namespace,InvalidAccess,,TypeMismatch,Security,Network,Abort,URLMismatch,QuotaExceeded,Timeout,InvalidNodeType,DataClone'.split(
    ',',
  )

/** Constants whose names differ from those of the exceptions. */
const CONSTANTS: Readonly<Record<number, string>> = {
  2: 'DOMSTRING_SIZE',
  6: 'NO_DATA_ALLOWED',
  10: 'INUSE_ATTRIBUTE',
  16: 'VALIDATION',
  21: 'URL_MISMATCH',
}

/** As units make them. */
export interface DOMExceptionExports {
  readonly DOMException: new (message?: unknown, name?: unknown) => Error & { readonly code: number }
  /** Name and message of a DOMException, undefined for anything else. */
  readonly exceptionParts: (value: object) => { readonly name: string; readonly message: string } | undefined
}

const unit: Unit<DOMExceptionExports & Record<string, unknown>> = () => {
  const codes = new Map<string, number>()
  let nameOf!: (exception: DOMException) => string
  let messageOf!: (exception: DOMException) => string
  let exceptionParts!: DOMExceptionExports['exceptionParts']

  class DOMException extends Error {
    readonly #name: string
    readonly #message: string

    constructor(message: unknown = '', name: unknown = 'Error') {
      const text = `${message as string}`
      super(text)
      this.#message = text
      this.#name = `${name as string}`
      // Of its own, so that the host, which runs no getter, sees it when nobody catches this.
      define(this, 'name', this.#name)
    }

    get code(): number {
      return codes.get(this.#name) ?? 0
    }

    static {
      nameOf = (exception) => exception.#name
      messageOf = (exception) => exception.#message
      exceptionParts = (value) =>
        #name in value ? { name: value.#name, message: value.#message } : undefined
    }
  }

  const { prototype } = DOMException
  Object.defineProperties(
    prototype,
    Object.getOwnPropertyDescriptors({
      get name(): string {
        return nameOf(this as unknown as DOMException)
      },
      get message(): string {
        return messageOf(this as unknown as DOMException)
      },
    }),
  )
  for (let code = 1; code <= NAMES.length; code += 1) {
    const name = NAMES[code - 1] as string
    if (name !== '') codes.set(`${name}Error`, code)
    const constant = CONSTANTS[code] ?? name.replace(/(?!^)[A-Z]/g, '_$&').toUpperCase()
    for (const object of [DOMException, prototype]) {
      Object.defineProperty(object, `${constant}_ERR`, { value: code, enumerable: true })
    }
  }
  return { DOMException, exceptionParts }
}
export default unit
