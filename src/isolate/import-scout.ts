/**
 * Finds what modules import, before any program runs: by the engine's own parser, in an instance that no guest has.
 *
 * A module is compiled as what another one imports, whose second import fails. So the engine compiles it and asks for
 * each of its imports, in their order, and nothing is linked or evaluated.
 *
 * Invariants
 * 1. No code of the module runs.
 * 2. Parsing is bounded in fuel, memory and time; a source at which a bound is reached has no imports here, and shows
 *    in the guest itself what is wrong with it.
 * 3. All that is parsed for one program takes no longer than that program may: nothing is parsed any more then.
 */
import type { EngineInstance, InstanceHandlers } from './engine-instance.ts'
import type { InstancePool, PooledInstance } from './instance-pool.ts'
import { MODULE_LOADER } from './module-loader-layout.ts'

const EVAL_MODULE = 1
const LOOK = 'caisson:look'
const STOP = 'caisson:stop'
const NOTHING = 'caisson:nothing'

/** Of one module. */
const FUEL = 20_000_000_000
const STACK_BYTES = 1_048_576
const MEMORY_BYTES = 128 * 1024 * 1024
const MOST_MS = 2_000
/** What compiled modules leave behind is dropped with the instance above this. */
const KEEP_BELOW_BYTES = 8 * 1024 * 1024

export class ImportScout {
  readonly #pool: InstancePool
  readonly #monotonic: () => number
  #pooled: PooledInstance | undefined
  #looked = 0
  #leftMs = Number.POSITIVE_INFINITY

  constructor(pool: InstancePool, monotonic: () => number) {
    this.#pool = pool
    this.#monotonic = monotonic
  }

  /** From here on parses for no longer than `ms` milliseconds, all looks together. */
  limitTo(ms: number): void {
    this.#leftMs = ms
  }

  /** Whether that time is over: what was not parsed is not known. */
  get isSpent(): boolean {
    return this.#leftMs <= 0
  }

  /** Specifiers as the module has them, each once, in their order; none for a source that does not parse. */
  importsOf(code: string): readonly string[] {
    return this.#look(code) ?? []
  }

  /** Whether it is a module. */
  parses(code: string): boolean {
    return this.#look(code) !== undefined
  }

  #look(code: string): readonly string[] | undefined {
    if (this.isSpent) return undefined
    const pooled = this.#acquire()
    const begunAt = this.#monotonic()
    const { instance, guest } = pooled
    const name = `${LOOK}/${this.#looked}`
    this.#looked += 1
    const found = new Set<string>()
    instance.serve(
      handlersFor(instance, name, code, found, () => {
        parsed = true
      }),
      MEMORY_BYTES,
    )
    instance.gauge.reset(FUEL)
    instance.gauge.begin(STACK_BYTES, begunAt + Math.min(MOST_MS, this.#leftMs), undefined)
    let whole = true
    let parsed = false
    try {
      const source = instance.allocateText(`import "${name}"\nimport "${STOP}"`)
      const file = instance.allocateText(LOOK)
      const cell = instance.exports.QTS_Eval(
        guest.context,
        source.pointer,
        source.bytes,
        file.pointer,
        0,
        EVAL_MODULE,
      )
      instance.exports.free(source.pointer)
      instance.exports.free(file.pointer)
      pooled.free(pooled.exceptionOf(cell), cell)
    } catch {
      whole = false
    }
    instance.gauge.end()
    this.#leftMs -= this.#monotonic() - begunAt
    if (!whole || instance.fault !== undefined || instance.size > KEEP_BELOW_BYTES) this.close()
    return whole && parsed ? [...found] : undefined
  }

  /** Gives its instance back. It can go on. */
  close(): void {
    this.#pooled?.release(false)
    this.#pooled = undefined
  }

  #acquire(): PooledInstance {
    if (this.#pooled === undefined) {
      const pooled = this.#pool.acquire()
      const { words } = pooled.instance
      const { runtime } = pooled.guest
      words[(runtime + MODULE_LOADER.normalizeField) >>> 2] = MODULE_LOADER.normalizeSlot
      words[(runtime + MODULE_LOADER.loadField) >>> 2] = MODULE_LOADER.loadSlot
      this.#pooled = pooled
    }
    return this.#pooled
  }
}

function handlersFor(
  instance: EngineInstance,
  name: string,
  code: string,
  found: Set<string>,
  onParsed: () => void,
): InstanceHandlers {
  return {
    call: () => 0,
    readClock: () => 0,
    promiseRejection: () => {},
    normalizeModule(base, specifier) {
      if (base !== name) return instance.allocateText(specifier).pointer
      found.add(specifier)
      return instance.allocateText(NOTHING).pointer
    },
    loadModule(wanted) {
      if (wanted === name) return instance.allocateText(code).pointer
      if (wanted === NOTHING) return instance.allocateText('').pointer
      onParsed()
      return 0
    },
  }
}
