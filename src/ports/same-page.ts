/** Whether the bytes of `page` stand at `start` of `memory`. For one page of 4,096 bytes, or some in a row. */
export type SamePage = (memory: Uint8Array, start: number, page: Uint8Array) => boolean
