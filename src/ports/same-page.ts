/** Whether the bytes of `page` stand at `start` of `memory`. For pages of 4,096 bytes, thousands at a time. */
export type SamePage = (memory: Uint8Array, start: number, page: Uint8Array) => boolean
