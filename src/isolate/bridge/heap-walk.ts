/**
 * The walk over one value in a guest's heap: which cell is what, what was seen, what is still to be filled.
 *
 * Containers are made empty when they are met and filled later, in the order in which they were met. So the
 * host's stack stays flat however deep a value is, and cycles need no special case.
 *
 * Invariants
 * 1. Each object with more than one reference is looked up before it is made: sharing arrives as sharing.
 *    (One with a single reference cannot be met twice; where a forged count says so, it is copied twice,
 *    within the budget.)
 * 2. Depth and nodes are charged before a host object is made.
 */
import { CaissonError } from '../../base/errors.ts'
import type { ValueLimits } from '../../values/limits.ts'
import type { ContainerKind } from '../../values/value-kind.ts'
import { NODE_BYTES } from '../../values/value-meter.ts'
import { type Holder, placePath } from '../../values/value-path.ts'
import { CLASS, CLASS_NAMES, TAG } from './heap-layout.ts'
import { corrupted, type HeapMemory } from './heap-memory.ts'
import { floatFromWords, HeapObjects, isFloatTag } from './heap-objects.ts'
import type { HeapReading, Owner, PathStep } from './heap-reading.ts'
import { HeapStrings } from './heap-strings.ts'
import { fillArguments, fillArray } from './read-array.ts'
import { readBuffer, readView } from './read-binary.ts'
import { fillMap, fillSet } from './read-collection.ts'
import { fillError, readErrorShell } from './read-error.ts'
import { ReadMeter } from './read-meter.ts'
import { fillObject } from './read-object.ts'
import { readBigInt, readBoxed, readDate, readRegExp } from './read-scalars.ts'

/** Kinds of containers by class. */
const CONTAINER_KINDS: Readonly<Record<number, ContainerKind>> = {
  [CLASS.array]: 'array',
  [CLASS.map]: 'map',
  [CLASS.set]: 'set',
  [CLASS.error]: 'error',
}

/** Entries of the queue that are kept for the next read. */
const KEPT_QUEUE = 256
const NOTHING = {}

const NO_METER = new ReadMeter({ bytes: 0, nodes: 0, depth: 0 }, () => '')

export class HeapWalk implements HeapReading {
  readonly memory: HeapMemory
  readonly objects: HeapObjects
  readonly strings: HeapStrings
  meter: ReadMeter = NO_METER

  #root = 'value'
  /** The container that is being filled, for messages of the meter. */
  #filling: Owner = -1
  readonly #where = (): string => (this.#filling < 0 ? this.#root : this.#containerPath(this.#filling))
  #depth = 0
  #limits: ValueLimits | undefined
  /** Host objects by the address of their original. */
  readonly #seen = new Map<number, object>()

  // The queue of containers, one array for each column. Only the first `#count` entries count.
  #count = 0
  readonly #words: number[] = []
  readonly #targets: object[] = []
  readonly #owners: Owner[] = []
  readonly #steps: PathStep[] = []
  readonly #depths: number[] = []

  constructor(memory: HeapMemory, runtimePointer: number) {
    this.memory = memory
    this.objects = new HeapObjects(memory)
    this.strings = new HeapStrings(memory, runtimePointer)
  }

  /** The value in the cell at word `cell`, complete. Leaves nothing behind, also when it throws. */
  run(cell: number, limits: ValueLimits, root: string): unknown {
    this.start(limits, root)
    try {
      this.meter.addNodes(1)
      const value = this.value(cell, -1, '')
      for (let i = 0; i < this.#count; i += 1) this.#fill(i)
      return value
    } finally {
      this.#clear()
    }
  }

  /** Sets the limits of what is read next. */
  start(limits: ValueLimits, root: string): void {
    this.#root = root
    this.#filling = -1
    this.#depth = limits.depth
    if (limits === this.#limits) this.meter.reset()
    else {
      this.#limits = limits
      this.meter = new ReadMeter(limits, this.#where)
    }
    this.strings.start(this.meter)
  }

  value(cell: number, owner: Owner, step: PathStep): unknown {
    const { meter } = this
    const { u32 } = this.memory
    const high = u32[cell + 1] as number
    const low = u32[cell] as number
    switch (high | 0) {
      case TAG.int:
        meter.addBytes(NODE_BYTES)
        return low | 0
      case TAG.string:
        return this.strings.flat(low)
      case TAG.object:
        return this.object(low, owner, step)
      case TAG.bool:
        meter.addBytes(NODE_BYTES)
        return low !== 0
      case TAG.null:
        meter.addBytes(NODE_BYTES)
        return null
      case TAG.undefined:
        meter.addBytes(NODE_BYTES)
        return undefined
      case TAG.rope:
        return this.strings.text(TAG.rope, low)
      case TAG.shortBigInt:
        meter.addBytes(NODE_BYTES)
        return BigInt(low | 0)
      case TAG.bigInt:
        return readBigInt(this, low)
      case TAG.symbol:
        return this.refuse('a symbol', owner, step)
      default:
        if (!isFloatTag(high)) throw corrupted(`a value has the tag ${high | 0}`)
        meter.addBytes(NODE_BYTES)
        return floatFromWords(low, high)
    }
  }

  object(pointer: number, owner: Owner, step: PathStep): object {
    const word = this.objects.object(pointer)
    const shared = this.memory.u32[word] !== 1
    if (shared) {
      const known = this.#seen.get(pointer)
      if (known !== undefined) {
        this.meter.addBytes(NODE_BYTES)
        return known
      }
    }
    const target = this.#create(word, owner, step)
    if (shared) this.#seen.set(pointer, target)
    return target
  }

  refuse(what: string, owner: Owner, step: PathStep): never {
    const path = this.path(owner, step)
    throw new CaissonError('value_refused', `${path} is ${what}, which cannot cross the bridge.`, {
      details: { path, kind: what },
    })
  }

  refuseContainer(what: string, owner: Owner): never {
    return this.refuse(what, this.#owners[owner] as Owner, this.#steps[owner] as PathStep)
  }

  path(owner: Owner, step: PathStep): string {
    return placePath(this.#root, this.#holder(owner), step)
  }

  #containerPath(container: Owner): string {
    return this.path(this.#owners[container] as Owner, this.#steps[container] as PathStep)
  }

  #holder(owner: Owner): Holder | undefined {
    const chain: Owner[] = []
    for (let at = owner; at >= 0; at = this.#owners[at] as Owner) chain.push(at)
    let holder: Holder | undefined
    for (const at of chain.reverse()) {
      const kind = CONTAINER_KINDS[this.objects.classOf(this.#words[at] as number)] ?? 'object'
      holder = { kind, parent: holder, key: this.#steps[at] as PathStep }
    }
    return holder
  }

  #create(word: number, owner: Owner, step: PathStep): object {
    const classId = this.objects.classOf(word)
    switch (classId) {
      case CLASS.object:
      case CLASS.arguments:
      case CLASS.mappedArguments:
        return this.#enqueue(word, {}, owner, step)
      case CLASS.array:
        return this.#enqueue(word, [], owner, step)
      case CLASS.map:
        return this.#enqueue(word, new Map(), owner, step)
      case CLASS.set:
        return this.#enqueue(word, new Set(), owner, step)
      case CLASS.error:
        return this.#enqueue(word, readErrorShell(this, word, owner, step), owner, step)
      case CLASS.date:
        return readDate(this, word)
      case CLASS.regExp:
        return readRegExp(this, word, owner, step)
      case CLASS.number:
      case CLASS.string:
      case CLASS.boolean:
      case CLASS.bigInt:
        return readBoxed(this, word)
      case CLASS.arrayBuffer:
        return readBuffer(this, word, owner, step)
      case CLASS.dataView:
        return readView(this, word, classId, owner, step)
      default:
        if (classId >= CLASS.uint8ClampedArray && classId <= CLASS.float64Array) {
          return readView(this, word, classId, owner, step)
        }
        return this.refuse(describeClass(classId), owner, step)
    }
  }

  #enqueue(word: number, target: object, owner: Owner, step: PathStep): object {
    const depth = owner < 0 ? 1 : (this.#depths[owner] as number) + 1
    if (depth > this.#depth) this.#tooDeep(owner, step)
    this.meter.addBytes(NODE_BYTES)
    const i = this.#count
    this.#words[i] = word
    this.#targets[i] = target
    this.#owners[i] = owner
    this.#steps[i] = step
    this.#depths[i] = depth
    this.#count = i + 1
    return target
  }

  #tooDeep(owner: Owner, step: PathStep): never {
    const path = this.path(owner, step)
    const limit = this.#depth
    throw new CaissonError('value_too_deep', `${path} is nested deeper than the limit of ${limit}.`, {
      details: { path, limit },
    })
  }

  #fill(i: Owner): void {
    this.#filling = i
    const word = this.#words[i] as number
    const target = this.#targets[i] as object
    switch (this.objects.classOf(word)) {
      case CLASS.object:
        fillObject(this, word, target as Record<string, unknown>, i)
        break
      case CLASS.array:
        fillArray(this, word, target as unknown[], i)
        break
      case CLASS.map:
        fillMap(this, word, target as Map<unknown, unknown>, i)
        break
      case CLASS.set:
        fillSet(this, word, target as Set<unknown>, i)
        break
      case CLASS.error:
        fillError(this, word, target as Error, i)
        break
      default:
        fillArguments(this, word, target as Record<string, unknown>, i)
    }
  }

  /** Lets go of what was read. Shortening an array costs more than overwriting a few of its elements. */
  #clear(): void {
    const count = this.#count
    if (count <= KEPT_QUEUE) {
      for (let i = 0; i < count; i += 1) this.#targets[i] = NOTHING
    } else {
      for (const column of [this.#words, this.#targets, this.#owners, this.#steps, this.#depths])
        column.length = 0
    }
    this.#count = 0
    if (this.#seen.size !== 0) this.#seen.clear()
  }
}

/** `a Promise`, `a function`: what an object of this class is called in messages. */
function describeClass(classId: number): string {
  const name = HeapObjects.isFunction(classId) ? 'function' : (CLASS_NAMES[classId] ?? 'internal object')
  return `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name}`
}
