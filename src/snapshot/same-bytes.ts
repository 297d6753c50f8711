/** Whether bytes are equal, for digests, keys and MACs. */

/** Takes as long whichever bytes differ: how far a forged MAC is right must not show. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= (a[i] as number) ^ (b[i] ?? 0)
  return difference === 0
}
