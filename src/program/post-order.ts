/**
 * A depth-first walk along imports, without recursion: graphs are as deep as their authors like.
 *
 * @returns what `root` leads to, each when everything that it leads to was walked, `root` last
 */
export function postOrder(root: string, next: (name: string) => readonly string[]): readonly string[] {
  const seen = new Set([root])
  const order: string[] = []
  const path: { readonly name: string; readonly next: readonly string[]; at: number }[] = [
    { name: root, next: next(root), at: 0 },
  ]
  for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
    const to = step.next[step.at]
    step.at += 1
    if (to === undefined) {
      order.push(step.name)
      path.pop()
    } else if (!seen.has(to)) {
      seen.add(to)
      path.push({ name: to, next: next(to), at: 0 })
    }
  }
  return order
}
