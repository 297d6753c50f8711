/**
 * The world `hostile` in JavaScript: what a program can do that has an engine between itself and memory. What needs
 * bad addresses is refused by name.
 */
/* global hostCall */

export function run(which, text) {
  switch (which) {
    case 'none':
      return text
    case 'loop':
      for (;;) {}
    case 'recursion':
      return String(recurse(1))
    case 'flood':
      return flood()
    case 'trap':
      return Symbol('no text')
    case 'encoding':
      return 'ok \ud800!'
    case 'discriminant':
      return undefined
    case 'large':
      return 'x'.repeat(1 << 20)
    case 'host-loop':
      for (;;) hostCall('echo', text)
    default:
      throw `not in JavaScript: ${which}`
  }
}

function recurse(depth) {
  return recurse(depth + 1) + 1
}

function flood() {
  const kept = []
  for (;;) kept.push(new Uint8Array(1 << 20).fill(1))
}
