/**
 * One read in progress, as those see it who read a single class of objects.
 *
 * `HeapWalk` knows every class and hands each object to its reader; a reader knows its class and hands every
 * value inside back to the walk. This is what they agree on, so that neither needs the other.
 */
import type { HeapMemory } from './heap-memory.ts'
import type { HeapObjects } from './heap-objects.ts'
import type { HeapStrings } from './heap-strings.ts'
import type { ReadMeter } from './read-meter.ts'

/** Index of the container that holds a value; -1 for the root. */
export type Owner = number

/** Where a value stands in its container, as `placePath` wants it. */
export type PathStep = string | number

export interface HeapReading {
  readonly memory: HeapMemory
  readonly objects: HeapObjects
  readonly strings: HeapStrings
  /** Counts what this read takes. Charge it before the host allocates anything. */
  readonly meter: ReadMeter

  /** Reads the cell at word `cell`, which stands at `step` inside `owner`. Containers come back still empty. */
  value(cell: number, owner: Owner, step: PathStep): unknown

  /** The host's copy of the object at `pointer`, filled later where it is a container. */
  object(pointer: number, owner: Owner, step: PathStep): object

  /**
   * Ends the read: the value at `step` inside `owner` is `what`, which cannot cross.
   * @throws CaissonError `value_refused`
   */
  refuse(what: string, owner: Owner, step: PathStep): never

  /** As `refuse`, for the container `owner` itself. @throws CaissonError `value_refused` */
  refuseContainer(what: string, owner: Owner): never
}
