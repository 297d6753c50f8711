// Binary trees: allocate, walk and drop many perfect trees. Exercises the allocator and the collector.
// Algorithm of the Computer Language Benchmarks Game.

function grow(depth) {
  return depth === 0 ? { left: null, right: null } : { left: grow(depth - 1), right: grow(depth - 1) }
}

function count(tree) {
  return tree.left === null ? 1 : 1 + count(tree.left) + count(tree.right)
}

globalThis.run = () => {
  const maxDepth = 13
  const lines = [count(grow(maxDepth + 1))]
  const longLived = grow(maxDepth)
  for (let depth = 4; depth <= maxDepth; depth += 4) {
    const trees = 1 << (maxDepth - depth + 2)
    let total = 0
    for (let i = 0; i < trees; i++) total += count(grow(depth))
    lines.push(total)
  }
  lines.push(count(longLived))
  return lines.join(' ')
}
