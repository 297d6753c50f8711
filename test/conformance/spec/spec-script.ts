/** Scripts of the WebAssembly specification's suite, converted to JSON and binaries by `wast2json` of WABT. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SpecValue {
  readonly type: string
  /** Bits as an unsigned decimal number, or `nan:canonical`, `nan:arithmetic`, `null`. */
  readonly value?: string | readonly string[]
}

export interface SpecAction {
  readonly type: 'invoke' | 'get'
  readonly module?: string
  readonly field: string
  readonly args?: readonly SpecValue[]
}

export interface SpecCommand {
  readonly type: string
  readonly line: number
  readonly name?: string
  readonly as?: string
  readonly filename?: string
  readonly module_type?: 'binary' | 'text'
  readonly action?: SpecAction
  readonly expected?: readonly SpecValue[]
}

export interface SpecScript {
  readonly commands: readonly SpecCommand[]
  /** The binaries that commands name. */
  readonly binaries: ReadonlyMap<string, Uint8Array>
}

/** Names of the scripts of a checkout, sorted. */
export function specScripts(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.wast'))
    .sort()
}

/** Undefined for a script that the converter cannot read. @throws when there is no converter */
export function convertScript(folder: string, name: string): SpecScript | undefined {
  const to = mkdtempSync(join(tmpdir(), 'caisson-spec-'))
  try {
    const json = join(to, 'script.json')
    execFileSync('wast2json', ['--enable-all', join(folder, name), '-o', json], { stdio: 'pipe' })
    const { commands } = JSON.parse(readFileSync(json, 'utf8')) as { commands: SpecCommand[] }
    const files = readdirSync(to).filter((file) => file.endsWith('.wasm'))
    const binaries = new Map(files.map((file) => [file, new Uint8Array(readFileSync(join(to, file)))]))
    return { commands, binaries }
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') return undefined
    throw new Error('There is no wast2json here: install WABT (Debian: apt-get install wabt).', {
      cause: error,
    })
  } finally {
    rmSync(to, { recursive: true, force: true })
  }
}
