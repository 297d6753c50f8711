/** The exception part of the WebAssembly JavaScript API, which TypeScript's DOM library does not declare yet. */

/** `WebAssembly.Tag` and `WebAssembly.Exception`. */
export interface ExceptionApi {
  readonly Tag: new (type: { readonly parameters: readonly string[] }) => object
  readonly Exception: new (tag: object, payload: readonly unknown[]) => object
}

/** The API of the engine below. */
export const exceptionApi: ExceptionApi = WebAssembly as unknown as ExceptionApi
