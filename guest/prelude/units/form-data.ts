/** `FormData` of XMLHttpRequest's standard, without forms. */
import { requireArguments, usvString } from '../arguments.ts'
import type { Internals, Unit } from '../host.ts'
import { iterateByEntries, pairIterators } from '../pair-iterators.ts'
import type { BlobExports } from './blob.ts'

/** A name with text, or with a `File`. */
export type FormEntry = readonly [name: string, value: string | object]

/** What other units need of it. */
export interface FormDataExports {
  /** Undefined for what is no FormData. */
  readonly entriesOfForm: (value: object) => readonly FormEntry[] | undefined
  readonly formOf: (entries: readonly FormEntry[]) => object
}

const unit: Unit<FormDataExports & Record<string, unknown>> = ({ loaded }) => {
  const iterate = pairIterators('FormData')
  let entriesOfForm!: FormDataExports['entriesOfForm']
  let formOf!: FormDataExports['formOf']

  class FormData {
    #entries: FormEntry[] = []

    constructor(form: unknown = undefined) {
      if (form !== undefined) throw new TypeError('A guest has no forms: FormData takes no argument.')
    }

    append(name: unknown, value: unknown, fileName: unknown = undefined): void {
      const given = arguments.length
      requireArguments(given, 2, 'FormData.append')
      this.#entries.push(entry(loaded, [name, value, ...(given > 2 ? [fileName] : [])]))
    }

    delete(name: unknown): void {
      requireArguments(arguments.length, 1, 'FormData.delete')
      const wanted = usvString(name)
      this.#entries = this.#entries.filter(([one]) => one !== wanted)
    }

    get(name: unknown): string | object | null {
      requireArguments(arguments.length, 1, 'FormData.get')
      const wanted = usvString(name)
      return this.#entries.find(([one]) => one === wanted)?.[1] ?? null
    }

    getAll(name: unknown): (string | object)[] {
      requireArguments(arguments.length, 1, 'FormData.getAll')
      const wanted = usvString(name)
      return this.#entries.filter(([one]) => one === wanted).map(([, value]) => value)
    }

    has(name: unknown): boolean {
      requireArguments(arguments.length, 1, 'FormData.has')
      const wanted = usvString(name)
      return this.#entries.some(([one]) => one === wanted)
    }

    set(name: unknown, value: unknown, fileName: unknown = undefined): void {
      const given = arguments.length
      requireArguments(given, 2, 'FormData.set')
      const made = entry(loaded, [name, value, ...(given > 2 ? [fileName] : [])])
      const first = this.#entries.findIndex(([one]) => one === made[0])
      if (first < 0) this.#entries.push(made)
      else
        this.#entries = this.#entries.flatMap((one, i) =>
          i === first ? [made] : one[0] === made[0] ? [] : [one],
        )
    }

    forEach(callback: unknown, self: unknown = undefined): void {
      const live = this.#live
      if (typeof callback !== 'function') throw new TypeError('FormData.forEach takes a function.')
      for (const [name, value] of iterate(live, (pair) => pair)) callback.call(self, value, name, this)
    }

    entries(): IterableIterator<FormEntry> {
      return iterate(this.#live, ([name, value]): FormEntry => [name, value])
    }

    keys(): IterableIterator<string> {
      return iterate(this.#live, ([name]) => name)
    }

    values(): IterableIterator<string | object> {
      return iterate(this.#live, ([, value]) => value)
    }

    get #live(): () => readonly FormEntry[] {
      void this.#entries
      return () => this.#entries
    }

    static {
      entriesOfForm = (value) => (#entries in value ? value.#entries : undefined)
      formOf = (entries) => {
        const form = new FormData()
        form.#entries = [...entries]
        return form
      }
    }
  }
  iterateByEntries(FormData.prototype)
  return { FormData, entriesOfForm, formOf }
}
export default unit

/** @throws TypeError for a name of a file where there is no blob */
function entry(loaded: Internals['loaded'], args: readonly unknown[]): FormEntry {
  const [name, value, fileName] = args
  const key = usvString(name)
  const blobs = loaded('blob') as unknown as BlobExports | undefined
  const isBlob = typeof value === 'object' && value !== null && blobs?.bytesOfBlob(value) !== undefined
  if (isBlob) return [key, blobs.asFile(value, fileName === undefined ? undefined : usvString(fileName))]
  if (args.length > 2) throw new TypeError('FormData takes the name of a file with a Blob or File only.')
  return [key, usvString(value)]
}
