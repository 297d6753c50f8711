/** A core module without any import: numbers in and out, and a state between calls. */

let sum: i64 = 0;

export function add(a: i32, b: i32): i32 {
  return a + b;
}

export function fibonacci(n: i32): i64 {
  let a: i64 = 0;
  let b: i64 = 1;
  for (let i = 0; i < n; i++) {
    const next = a + b;
    a = b;
    b = next;
  }
  return a;
}

/** Adds to what earlier calls left. */
export function accumulate(by: i64): i64 {
  sum += by;
  return sum;
}

/** Counts primes below `limit` in memory that it grows for it. */
export function primes(limit: i32): i32 {
  if (limit < 0) unreachable();
  const sieve = new StaticArray<bool>(limit);
  let count = 0;
  for (let i = 2; i < limit; i++) {
    if (sieve[i]) continue;
    count++;
    for (let j = i + i; j < limit; j += i) sieve[j] = true;
  }
  return count;
}

export function divide(a: i32, b: i32): i32 {
  return a / b;
}

export function spin(): void {
  while (true) sum++;
}
