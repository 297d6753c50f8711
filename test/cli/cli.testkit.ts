/** The command line in tests: in this process with recorded output, and as people start it. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CliIo, CliOutput } from '../../src/cli/cli-io.ts'
import { runCli } from '../../src/cli/run-cli.ts'

const ROOT = join(import.meta.dirname, '../..')
const MAIN = join(ROOT, 'dist/src/cli/main.js')
const NODE_ENTRY = join(ROOT, 'src/entry/node.ts')

/** What a terminal would obey, but for the newline. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
export const OBEYED: RegExp = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** What was written there, which need not be text. Of `cli` only. */
  readonly stdoutBytes?: Uint8Array
  /** What stdout says as JSON. */
  json(): RunJson
}

export interface RunJson {
  readonly status: string
  readonly limit: string | null
  readonly value: unknown
  readonly error: {
    readonly code: string | null
    readonly message: string
    readonly stack: string | null
  } | null
  readonly hint: string | null
  readonly usage: {
    readonly fuel: number
    readonly memoryBytes: number
    readonly wallMs: number
    readonly calls: number
  }
  readonly logs: readonly { readonly level: string; readonly text: string }[]
  readonly pending: readonly unknown[]
  readonly stateDigest: string | null
  readonly engine: string | null
}

/** A folder with these files, gone with `remove`. */
export interface Folder {
  readonly path: string
  remove(): void
}

export function makeFolder(files: Readonly<Record<string, string | Uint8Array>>): Folder {
  const path = mkdtempSync(join(tmpdir(), 'caisson-cli-'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export interface Setting {
  readonly cwd: string
  readonly stdin?: string
  /** Makes stdout and stderr terminals of this width. */
  readonly columns?: number
  /** Ctrl-C after so many milliseconds. */
  readonly interruptAfterMs?: number
  /** Ctrl-C as soon as this holds, however long that takes. */
  readonly interruptWhen?: () => boolean
  /** Leaves the thread of a program to the command. */
  readonly anyThread?: boolean
}

/**
 * Runs the command in this process. Programs run on this thread, where they are not to be interrupted: a Worker loads
 * the whole library again, which takes longer than most of them.
 */
export async function cli(args: readonly string[], setting: Setting): Promise<Ended> {
  const output = (): CliOutput & { readonly chunks: Buffer[]; readonly text: string } => ({
    chunks: [],
    get text() {
      return Buffer.concat(this.chunks).toString()
    },
    write(text) {
      this.chunks.push(Buffer.from(text as Uint8Array))
    },
    isTerminal: setting.columns !== undefined,
    columns: setting.columns ?? 80,
    colours: false,
  })
  const stdout = output()
  const stderr = output()
  const io: CliIo = {
    stdout,
    stderr,
    async *stdin() {
      yield new TextEncoder().encode(setting.stdin ?? '')
    },
    cwd: setting.cwd,
    onInterrupt(listener) {
      const { interruptWhen } = setting
      if (interruptWhen !== undefined) {
        const looking = setInterval(() => {
          if (!interruptWhen()) return
          clearInterval(looking)
          listener()
        }, 20)
        return () => clearInterval(looking)
      }
      if (setting.interruptAfterMs === undefined) return () => {}
      const timer = setTimeout(listener, setting.interruptAfterMs)
      return () => clearTimeout(timer)
    },
  }
  const code = await runCli(isForThisThread(args, setting) ? [...args, '--thread', 'host'] : args, io)
  const stdoutBytes = new Uint8Array(Buffer.concat(stdout.chunks))
  return { ...ended(code, stdout.text, stderr.text), stdoutBytes }
}

function isForThisThread(
  [command = '', ...flags]: readonly string[],
  { anyThread, interruptAfterMs, interruptWhen }: Setting,
): boolean {
  if (anyThread || interruptAfterMs !== undefined || interruptWhen !== undefined) return false
  return /^(?:run|resume)$/.test(command) && !flags.includes('--thread')
}

export interface Started {
  readonly end: Promise<Ended>
  signal(name: NodeJS.Signals): void
  /** Resolves when stderr has said this. */
  said(text: string): Promise<void>
}

/** Starts the built command as a process of its own. @param env beside that of the tests */
export function start(
  args: readonly string[],
  cwd: string,
  stdin = '',
  env: Readonly<Record<string, string>> = {},
): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    stdio: 'pipe',
    env: { ...process.env, ...env },
  })
  let stdout = ''
  let stderr = ''
  const watching: { text: string; resolve: () => void }[] = []
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
    for (const { text, resolve } of watching) if (stderr.includes(text)) resolve()
  })
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  return {
    end: new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) => resolve(ended(code, stdout, stderr)))
    }),
    signal: (name) => child.kill(name),
    said: (text) =>
      new Promise((resolve) => {
        if (stderr.includes(text)) resolve()
        watching.push({ text, resolve })
      }),
  }
}

function ended(code: number | null, stdout: string, stderr: string): Ended {
  return { code, stdout, stderr, json: () => JSON.parse(stdout) as RunJson }
}

/** A tools module over this library, as an embedder writes it, for this process or the built command. */
export function toolsModule(entry: 'sources' | 'build'): string {
  const path = entry === 'sources' ? NODE_ENTRY : join(ROOT, 'dist/src/entry/node.js')
  return `import { capability, CaissonError } from ${JSON.stringify(path)}
export default [
  capability({ name: 'prices.lookup', description: 'Price', effect: 'read', invoke: async ({ sku }) => ({ sku, price: 3 }) }),
  capability({ name: 'prices.count', description: 'Count', effect: 'read', sync: true, invoke: () => 7 }),
  capability({ name: 'prices.never', description: 'Never', effect: 'read', invoke: () => { console.error('asked'); return new Promise(() => {}) } }),
  capability({ name: 'prices.refuse', description: 'Refuses', effect: 'read', expose: ['denied'],
    invoke: async () => { throw new CaissonError('denied', 'Not for you.') } }),
  capability({ name: 'prices.broken', description: 'Is broken', effect: 'read',
    invoke: async (which) => { throw which === 'value' ? '\\x1b[2Jerror: fake' : new TypeError('No \\x1b[2Jprice\\nerror: fake', { cause: new Error('ECONNREFUSED') }) } }),
]
`
}

/**
 * Tools that write down what they did to `done.log` in the working directory of the test: a price, which can be asked
 * for again, and an order, which cannot. While there is a file `hang`, orders are never answered.
 */
export function keptTools(entry: 'sources' | 'build'): string {
  const path = entry === 'sources' ? NODE_ENTRY : join(ROOT, 'dist/src/entry/node.js')
  return `import { appendFileSync, existsSync } from 'node:fs'
import { capability, CaissonError } from ${JSON.stringify(path)}
const here = (name) => new URL(name, import.meta.url)
const note = (what) => appendFileSync(here('done.log'), what + '\\n')
const text = { '~standard': { version: 1, vendor: 'test',
  validate: (value) => typeof value === 'string' ? { value } : { issues: [{ message: 'no text' }] } } }
export default [
  capability({ name: 'shop.price', description: 'Price', effect: 'read', idempotent: true,
    invoke: async ({ sku }) => { note('price ' + sku); return { price: 5 } } }),
  capability({ name: 'shop.order', description: 'Order', effect: 'write', output: text,
    invoke: async ({ sku }) => {
      note('order ' + sku)
      if (existsSync(here('hang'))) { console.error('hanging'); await new Promise(() => {}) }
      return 'ordered ' + sku
    } }),
  capability({ name: 'shop.fail', description: 'Fails', effect: 'read',
    invoke: async () => { throw new CaissonError('denied', 'No.') } }),
]
`
}
