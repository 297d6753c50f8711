// Objects: classes with inheritance and accessors, closures, exceptions, promises, symbols, copies and comparisons.

class Shape {
  constructor(name) {
    this.name = name
  }

  get label() {
    return `${this.name}:${this.area().toFixed(2)}`
  }

  [Symbol.toPrimitive]() {
    return this.area()
  }
}

class Box extends Shape {
  constructor(width, height) {
    super('box')
    Object.assign(this, { width, height })
  }

  area() {
    return this.width * this.height
  }
}

class Disc extends Shape {
  static made = 0

  constructor(radius) {
    super('disc')
    this.radius = radius
    Disc.made++
  }

  area() {
    return Math.PI * this.radius ** 2
  }
}

function equal(a, b) {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
  )
}

const clone = (value) => {
  if (Array.isArray(value)) return value.map(clone)
  if (value === null || typeof value !== 'object') return value
  const copy = {}
  for (const key in value) copy[key] = clone(value[key])
  return copy
}

function memoize(fn) {
  const known = {}
  return (key) => {
    if (!(key in known)) known[key] = fn(key)
    return known[key]
  }
}

function checked(value) {
  try {
    if (value % 7 === 3) throw new RangeError(`bad ${value}`)
    return value
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return error.message.length
  } finally {
    checked.calls = (checked.calls ?? 0) + 1
  }
}

globalThis.run = () => {
  const shapes = Array.from({ length: 400 }, (_, i) => (i % 2 ? new Box(i % 13, i % 5) : new Disc(i % 11)))
  shapes.sort((a, b) => a - b || a.name.localeCompare(b.name))
  const labels = shapes.map(({ label }) => label)
  const tree = {
    list: shapes.slice(0, 60).map((shape) => ({ ...shape, nested: { ok: true, at: [1, 2.5, null] } })),
  }
  const copies = Array.from({ length: 6 }, () => clone(tree))
  const same = copies.filter((copy) => equal(copy, tree)).length
  const fibonacci = memoize((n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)))
  let sum = 0
  for (let i = 0; i < 3000; i++) sum += checked(i)
  const counter = ((n) => ({ next: () => ++n, peek: () => n }))(0)
  while (counter.peek() < 2000) counter.next()
  const handler = {
    get: (target, key) => (key in target ? target[key] : `no ${String(key)}`),
  }
  const proxy = new Proxy({ a: 1 }, handler)
  for (let i = 0; i < 200; i++) sum += proxy.a + proxy[`b${i % 3}`].length
  let settled = 0
  const step = async (i) => {
    await null
    settled += i
    return i % 2 ? settled : Promise.resolve(i)
  }
  for (let i = 0; i < 300; i++) step(i).then((value) => (settled += value))
  return `${labels[200]} ${same} ${fibonacci(60)} ${sum} ${counter.peek()} ${Disc.made > 0}`
}
