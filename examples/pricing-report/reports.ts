/**
 * What is published: files in a folder, and beside them what was published under which name by which call. The same call
 * again changes nothing, so that whoever does not know whether it took effect may make it again.
 */
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Capability, capability } from '../../src/entry/node.ts'
import { REPORT } from './terms.ts'

/** One report as it is published. */
interface Published {
  readonly digest: string
  readonly summary: unknown
  /** Of the call that published it. */
  readonly key: string
}

type Register = Readonly<Record<string, readonly Published[]>>

const REGISTER = 'published.json'
const NAME = z.string().regex(/^[a-z][a-z-]{0,60}\.html$/)
const MOST_HTML = 4 * 1024 * 1024

export class Reports {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** The newest one of a name. */
  async current(name: string): Promise<Published | undefined> {
    return (await this.#read())[name]?.at(-1)
  }

  /** Pretends that a report was published before. */
  async seed(name: string, summary: unknown): Promise<void> {
    await this.#write({ [name]: [{ digest: 'sha256:before', summary, key: 'before' }] })
  }

  async publish(name: string, html: string, summary: unknown, key: string): Promise<string> {
    const digest = `sha256:${createHash('sha256').update(html).digest('hex')}`
    const register = await this.#read()
    const known = register[name] ?? []
    if (known.some((one) => one.key === key)) return digest
    await mkdir(this.folder, { recursive: true })
    await writeFile(join(this.folder, name), html)
    await this.#write({ ...register, [name]: [...known, { digest, summary, key }] })
    return digest
  }

  /** Takes back what was published last, if it is that. */
  async withdraw(name: string, digest: string): Promise<boolean> {
    const register = await this.#read()
    const known = register[name] ?? []
    if (known.at(-1)?.digest !== digest) return false
    await rm(join(this.folder, name), { force: true })
    await this.#write({ ...register, [name]: known.slice(0, -1) })
    return true
  }

  async #read(): Promise<Register> {
    try {
      return JSON.parse(await readFile(join(this.folder, REGISTER), 'utf8')) as Register
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
      throw error
    }
  }

  async #write(register: Register): Promise<void> {
    await mkdir(this.folder, { recursive: true })
    const path = join(this.folder, REGISTER)
    await writeFile(`${path}.new`, JSON.stringify(register, null, 2))
    await rename(`${path}.new`, path)
  }
}

/** Puts a report into a folder that pretends to have been published before. */
export async function seedReports(folder: string): Promise<void> {
  const summary: unknown = JSON.parse(
    await readFile(new URL('./data/published-before.json', import.meta.url), 'utf8'),
  )
  await new Reports(folder).seed(REPORT, summary)
}

/** `reports.current`, `reports.publish` and `reports.withdraw`. */
export function createReportCapabilities(reports: Reports): readonly Capability[] {
  return [
    capability({
      name: 'reports.current',
      description: 'What is published under a name now: `{ digest, summary }`, both null where nothing is.',
      effect: 'read',
      input: z.object({ name: NAME }),
      output: z.object({ digest: z.string().nullable(), summary: z.unknown() }),
      invoke: async ({ name }) => {
        const { digest = null, summary = null } = (await reports.current(name)) ?? {}
        return { digest, summary }
      },
    }),
    capability({
      name: 'reports.publish',
      description: 'Publishes a page under a name, for everybody to read. Gives its `digest`.',
      effect: 'write',
      idempotent: true,
      input: z.object({ name: NAME, html: z.string().max(MOST_HTML), summary: z.unknown() }),
      output: z.object({ digest: z.string() }),
      invoke: async ({ name, html, summary }, { idempotencyKey }) => ({
        digest: await reports.publish(name, html, summary, idempotencyKey),
      }),
    }),
    capability({
      name: 'reports.withdraw',
      description: 'Takes a page back that was published last under a name. Gives whether it was that.',
      effect: 'write',
      idempotent: true,
      input: z.object({ name: NAME, digest: z.string() }),
      output: z.object({ withdrawn: z.boolean() }),
      invoke: async ({ name, digest }) => ({ withdrawn: await reports.withdraw(name, digest) }),
    }),
  ]
}
