// Shortest routes on a grid: generators, destructuring, a binary heap, optional chaining, template keys, a Set.
const WIDTH = 40
const HEIGHT = 25

function* neighbours({ x, y }) {
  for (const [dx, dy] of [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ]) {
    const next = { x: x + dx, y: y + dy }
    if (next.x >= 0 && next.y >= 0 && next.x < WIDTH && next.y < HEIGHT) yield next
  }
}

class Heap {
  items = []
  push(item) {
    const { items } = this
    let i = items.push(item) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (items[parent].cost <= items[i].cost) break
      ;[items[parent], items[i]] = [items[i], items[parent]]
      i = parent
    }
  }
  pop() {
    const { items } = this
    const top = items[0]
    const last = items.pop()
    if (items.length === 0) return top
    items[0] = last
    for (let i = 0; ; ) {
      let least = i
      for (const child of [2 * i + 1, 2 * i + 2]) if (items[child]?.cost < items[least].cost) least = child
      if (least === i) return top
      ;[items[least], items[i]] = [items[i], items[least]]
      i = least
    }
  }
}

const heightAt = ({ x, y }) => ((x * 7919) ^ (y * 104729)) % 13

globalThis.run = () => {
  const open = new Heap()
  const done = new Set()
  const cameFrom = {}
  open.push({ place: { x: 0, y: 0 }, cost: 0, from: null })
  for (let step = open.pop(); step !== undefined; step = open.items.length > 0 ? open.pop() : undefined) {
    const { place, cost, from } = step
    const key = `${place.x}/${place.y}`
    if (done.has(key)) continue
    done.add(key)
    cameFrom[key] = { ...place, cost, from }
    for (const next of neighbours(place)) {
      if (!done.has(`${next.x}/${next.y}`))
        open.push({ place: next, cost: cost + 1 + heightAt(next), from: key })
    }
  }
  const route = []
  for (let at = `${WIDTH - 1}/${HEIGHT - 1}`; at; at = cameFrom[at]?.from) route.unshift(at)
  return `${route.length} ${cameFrom[route.at(-1)].cost} ${done.size}`
}
