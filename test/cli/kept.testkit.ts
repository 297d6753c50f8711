/** A folder with a program that buys something, its tools and keys, and the command line in it. */
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cli, type Ended, type Folder, keptTools, makeFolder, type Setting } from './cli.testkit.ts'

/** Calls 1 and 3 can be made again, call 2 cannot. */
const SHOP = `
console.log('begun')
const { price } = await shop.price({ sku: 'A-1' })
const order = await shop.order({ sku: 'B-2', price, note: '\\x1b[2J' })
const last = await shop.price({ sku: 'C-3' })
return [price, order, last.price]
`
/** What it prints when all of it went well. */
export const BOUGHT = '[5, "ordered B-2", 5]\n'
export const RIGHTS: readonly string[] = [
  '--tools',
  'tools.mjs',
  '--grant',
  'shop.price',
  '--grant',
  'shop.order',
]
export const KEYS: Readonly<Record<'mac' | 'encryption', { readonly id: string; readonly key: string }>> = {
  mac: { id: 'm1', key: '11'.repeat(32) },
  encryption: { id: 'e1', key: '22'.repeat(32) },
}

export interface KeptFolder extends Folder {
  /** Runs the command in this process. */
  caisson(args: readonly string[], setting?: Partial<Setting>): Promise<Ended>
  /** Parks the program at a call, in a file. */
  park(call: number, file?: string, ...more: readonly string[]): Promise<Ended>
  /** Goes on with all rights. */
  resume(...args: readonly string[]): Promise<Ended>
  /** What the tools did, one line a call. */
  done(): readonly string[]
  read(name: string): Buffer
}

export function openKeptFolder(): KeptFolder {
  const folder = makeFolder({
    'shop.js': SHOP,
    'spend.js': 'await shop.price({}); for (let i = 0; i < 1e5; i++); return "done"',
    'tools.mjs': keptTools('sources'),
    'keys.json': JSON.stringify(KEYS),
  })
  chmodSync(join(folder.path, 'keys.json'), 0o600)
  const caisson: KeptFolder['caisson'] = (args, setting = {}) => cli(args, { cwd: folder.path, ...setting })
  return {
    ...folder,
    caisson,
    park: (call, file = 'f', ...more) =>
      caisson(['run', 'shop.js', ...RIGHTS, '--stop-at-call', String(call), '--checkpoint', file, ...more]),
    resume: (...args) => caisson(['resume', ...args, ...RIGHTS]),
    done() {
      const path = join(folder.path, 'done.log')
      return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
    },
    read: (name) => readFileSync(join(folder.path, name)),
  }
}

/** Without the line breaks that a narrow terminal brings. */
export function flat(text: string): string {
  return text.replace(/\s+/g, ' ')
}
