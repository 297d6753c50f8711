/** Whether the bytes of `page` stand at `start` of `memory`. For one page of 4,096 bytes, or some in a row. */
export type SamePage = (memory: Uint8Array, start: number, page: Uint8Array) => boolean

/** The platform's fastest ways to look at a guest's memory, page by page. */
export interface PageTools {
  readonly samePage: SamePage
  /** SHA-256 of a page, or of a list of such digests: 32 bytes. */
  readonly sha256: (bytes: Uint8Array) => Uint8Array
}
