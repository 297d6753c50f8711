/** The world `stats` in AssemblyScript: the list lies in memory that the host asked for, and is given back. */

export function cabi_realloc(old: usize, oldSize: usize, align: usize, newSize: usize): usize {
  if (newSize == 0) return align;
  // Blocks of the allocator are multiples of 16 bytes apart: what is asked for is aligned.
  return old == 0 ? heap.alloc(newSize) : heap.realloc(old, newSize);
}

export function median(data: usize, length: usize): f64 {
  if (length == 0) return NaN;
  sort(data, length);
  const middle = data + ((length >> 1) << 3);
  const upper = load<f64>(middle);
  const value = length % 2 == 1 ? upper : (load<f64>(middle - 8) + upper) / 2;
  heap.free(data);
  return value;
}

/** By insertion, in place. */
function sort(data: usize, length: usize): void {
  for (let i: usize = 1; i < length; i++) {
    const value = load<f64>(data + (i << 3));
    let at = i;
    while (at > 0 && load<f64>(data + ((at - 1) << 3)) > value) {
      store<f64>(data + (at << 3), load<f64>(data + ((at - 1) << 3)));
      at--;
    }
    store<f64>(data + (at << 3), value);
  }
}
