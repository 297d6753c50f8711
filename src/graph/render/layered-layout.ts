/**
 * Places boxes in layers from top to bottom, so that edges lead downwards: longest-path layering, edges over several
 * layers in lanes of their own, crossings lessened by medians, and boxes moved to where their neighbours are.
 *
 * Invariants
 * 1. Equal graphs are laid out alike, on every machine.
 * 2. No two boxes overlap.
 * 3. Work and output are bounded: edges that follow from others are left out, and of the rest only so many are drawn.
 */
export interface LayoutBox {
  readonly width: number
  readonly height: number
  /** Indices of boxes above it, all of them smaller than its own. */
  readonly before: readonly number[]
  /** Those of them to which the edge is drawn even where it follows from others. */
  readonly always?: readonly number[]
}

export interface PlacedEdge {
  readonly from: number
  readonly to: number
  /** Of a path in an SVG. */
  readonly path: string
}

export interface Layout {
  /** Upper left corners. */
  readonly boxes: readonly { readonly x: number; readonly y: number }[]
  readonly edges: readonly PlacedEdge[]
  readonly width: number
  readonly height: number
  /** Edges that were too many to be drawn. */
  readonly left: number
}

const GAP_X = 28
const GAP_Y = 46
const LANE = 14
const MOST_EDGES = 3_000
const MOST_LANES = 20_000
const ROUNDS = 12

/** A box or a lane of an edge, in a layer. */
interface Cell {
  readonly box: number | undefined
  readonly width: number
  readonly layer: number
  readonly above: Cell[]
  readonly below: Cell[]
  /** Its middle. */
  x: number
  order: number
}

interface Edge {
  readonly from: number
  readonly to: number
  readonly lanes: readonly Cell[]
}

/** @param boxes in an order in which edges lead from smaller to greater indices */
export function layeredLayout(boxes: readonly LayoutBox[]): Layout {
  const pairs = directEdges(boxes)
  const shown = pairs.slice(0, MOST_EDGES)
  const layerOf = layersOf(boxes)
  const cells = boxes.map(({ width }, i) => cell(i, width, layerOf[i] ?? 0))
  const layers: Cell[][] = Array.from({ length: Math.max(0, ...layerOf) + 1 }, () => [])
  for (const one of cells) layers[one.layer]?.push(one)
  const edges = joinCells(shown, cells, layers)
  for (let round = 0; round < ROUNDS; round += 1) orderLayers(layers, round % 2 === 0)
  placeLayers(layers)
  const left = Math.min(...layers.flat().map(({ x, width }) => x - width / 2))
  for (const one of layers.flat()) one.x -= left
  const tops = topsOf(layers, boxes)
  const heights = tops.heights
  const ports = portsOf(edges, cells)
  return {
    boxes: cells.map(({ x, width, layer }) => ({ x: x - width / 2, y: tops.at[layer] ?? 0 })),
    edges: edges.map((edge, i) => ({
      from: edge.from,
      to: edge.to,
      path: pathOf(edge, i, cells, boxes, { at: tops.at, heights }, ports),
    })),
    width: Math.max(0, ...layers.flat().map(({ x, width }) => x + width / 2)),
    height: Math.max(0, ...tops.at.map((y, i) => y + (heights[i] ?? 0))),
    left: pairs.length - shown.length,
  }
}

function cell(box: number | undefined, width: number, layer: number): Cell {
  return { box, width, layer, above: [], below: [], x: 0, order: 0 }
}

/** Edges that do not follow from others: where a leads to b and b to c, that a leads to c is known. */
function directEdges(boxes: readonly LayoutBox[]): readonly (readonly [from: number, to: number])[] {
  const words = Math.ceil(boxes.length / 32)
  const reached: Uint32Array[] = []
  const pairs: [number, number][] = []
  for (const [to, { before, always = [] }] of boxes.entries()) {
    const known = new Uint32Array(words)
    // The nearest first: what they have been reached from is known then.
    for (const from of [...new Set(before)].sort((a, b) => b - a)) {
      const bit = 1 << (from % 32)
      if (((known[from >>> 5] ?? 0) & bit) !== 0 && !always.includes(from)) continue
      pairs.push([from, to])
      known[from >>> 5] = (known[from >>> 5] ?? 0) | bit
      const further = reached[from] as Uint32Array
      for (let i = 0; i < words; i += 1) known[i] = (known[i] ?? 0) | (further[i] ?? 0)
    }
    reached.push(known)
  }
  return pairs
}

function layersOf(boxes: readonly LayoutBox[]): readonly number[] {
  const layers: number[] = []
  for (const { before } of boxes)
    layers.push(before.reduce((most, from) => Math.max(most, (layers[from] ?? 0) + 1), 0))
  return layers
}

function joinCells(
  pairs: readonly (readonly [number, number])[],
  cells: readonly Cell[],
  layers: Cell[][],
): readonly Edge[] {
  let lanesLeft = MOST_LANES
  const join = (above: Cell, below: Cell): void => {
    above.below.push(below)
    below.above.push(above)
  }
  return pairs.map(([from, to]) => {
    const [first, last] = [cells[from] as Cell, cells[to] as Cell]
    const lanes: Cell[] = []
    if (lanesLeft < last.layer - first.layer) return { from, to, lanes }
    lanesLeft -= last.layer - first.layer - 1
    for (let layer = first.layer + 1; layer < last.layer; layer += 1) {
      const lane = cell(undefined, LANE, layer)
      layers[layer]?.push(lane)
      lanes.push(lane)
    }
    const all = [first, ...lanes, last]
    for (const [i, one] of all.slice(1).entries()) join(all[i] as Cell, one)
    return { from, to, lanes }
  })
}

/** Sorts each layer by the medians of what its cells are joined to in the layer before. */
function orderLayers(layers: readonly Cell[][], downwards: boolean): void {
  for (const layer of layers) for (const [i, one] of layer.entries()) one.order = i
  for (const layer of downwards ? layers : [...layers].reverse()) {
    const wanted = new Map(
      layer.map((one) => {
        const orders = (downwards ? one.above : one.below).map(({ order }) => order).sort((a, b) => a - b)
        const middle = (orders.length - 1) / 2
        const median = ((orders[Math.floor(middle)] ?? 0) + (orders[Math.ceil(middle)] ?? 0)) / 2
        return [one, orders.length === 0 ? one.order : median]
      }),
    )
    layer.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0) || a.order - b.order)
    for (const [i, one] of layer.entries()) one.order = i
  }
}

function placeLayers(layers: readonly Cell[][]): void {
  for (const layer of layers) settle(layer, () => 0)
  for (let round = 0; round < ROUNDS; round += 1) {
    const downwards = round % 2 === 0
    for (const layer of downwards ? layers : [...layers].reverse()) {
      settle(layer, (one) => {
        const near = round === ROUNDS - 1 ? [...one.above, ...one.below] : downwards ? one.above : one.below
        return near.length === 0 ? one.x : near.reduce((sum, { x }) => sum + x, 0) / near.length
      })
    }
  }
}

/**
 * Moves the cells of a layer as near as possible to where they are wanted, in their order and apart: by pooling those
 * that would overlap, which gives the least squares.
 */
function settle(layer: readonly Cell[], wanted: (one: Cell) => number): void {
  const blocks: { sum: number; weight: number; count: number }[] = []
  const offsets: number[] = []
  let offset = 0
  for (const [i, one] of layer.entries()) {
    const last = layer[i - 1]
    if (last !== undefined) offset += (last.width + one.width) / 2 + GAP_X
    offsets.push(offset)
    // Lanes would rather be straight.
    const weight = one.box === undefined ? 3 : 1
    blocks.push({ sum: (wanted(one) - offset) * weight, weight, count: 1 })
    for (let at = blocks.length - 1; at > 0; at -= 1) {
      const [left, right] = [blocks[at - 1], blocks[at]]
      if (left === undefined || right === undefined || left.sum / left.weight <= right.sum / right.weight)
        break
      left.sum += right.sum
      left.weight += right.weight
      left.count += right.count
      blocks.pop()
    }
  }
  let i = 0
  for (const { sum, weight, count } of blocks) {
    for (const end = i + count; i < end; i += 1) (layer[i] as Cell).x = sum / weight + (offsets[i] ?? 0)
  }
}

interface Rows {
  readonly at: readonly number[]
  readonly heights: readonly number[]
}

function topsOf(layers: readonly Cell[][], boxes: readonly LayoutBox[]): Rows {
  const heights = layers.map((layer) =>
    Math.max(0, ...layer.map(({ box }) => (box === undefined ? 0 : (boxes[box]?.height ?? 0)))),
  )
  const at: number[] = []
  let y = 0
  for (const height of heights) {
    at.push(y)
    y += height + GAP_Y
  }
  return { at, heights }
}

/** Where edges leave and enter their boxes, beside the middle: those that lead to the left on the left. */
function portsOf(edges: readonly Edge[], cells: readonly Cell[]): ReadonlyMap<string, number> {
  const ports = new Map<string, number>()
  const sides = new Map<string, { edge: number; towards: number }[]>()
  for (const [i, { from, to, lanes }] of edges.entries()) {
    const [first, last] = [cells[from] as Cell, cells[to] as Cell]
    for (const [key, towards] of [
      [`out ${from}`, (lanes[0] ?? last).x],
      [`in ${to}`, (lanes.at(-1) ?? first).x],
    ] as const) {
      const side = sides.get(key) ?? []
      side.push({ edge: i, towards })
      sides.set(key, side)
    }
  }
  for (const [key, side] of sides) {
    const [end = '', box = ''] = key.split(' ')
    const { x, width } = cells[Number(box)] as Cell
    const step = Math.min(20, (width * 0.6) / side.length)
    side.sort((a, b) => a.towards - b.towards)
    for (const [i, { edge }] of side.entries())
      ports.set(`${end} ${edge}`, x + (i - (side.length - 1) / 2) * step)
  }
  return ports
}

function pathOf(
  { from, to, lanes }: Edge,
  index: number,
  cells: readonly Cell[],
  boxes: readonly LayoutBox[],
  rows: Rows,
  ports: ReadonlyMap<string, number>,
): string {
  const [first, last] = [cells[from] as Cell, cells[to] as Cell]
  let x = ports.get(`out ${index}`) ?? first.x
  let y = (rows.at[first.layer] ?? 0) + (boxes[from]?.height ?? 0)
  let path = `M${round(x)} ${round(y)}`
  const curveTo = (nextX: number, nextY: number): void => {
    const middle = (y + nextY) / 2
    path += `C${round(x)} ${round(middle)} ${round(nextX)} ${round(middle)} ${round(nextX)} ${round(nextY)}`
    x = nextX
    y = nextY
  }
  // A box that is lower than its row: straight down to the end of the row, so that the curve crosses no neighbour.
  const end = (rows.at[first.layer] ?? 0) + (rows.heights[first.layer] ?? 0)
  if (end > y) path += `V${round(end)}`
  y = end
  for (const lane of lanes) {
    curveTo(lane.x, rows.at[lane.layer] ?? 0)
    y += rows.heights[lane.layer] ?? 0
    path += `V${round(y)}`
  }
  curveTo(ports.get(`in ${index}`) ?? last.x, rows.at[last.layer] ?? 0)
  return path
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
