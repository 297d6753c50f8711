/**
 * Runs in a folder of the file system, for any number of processes at once.
 *
 * 1. What resolves is on the disk: contents and names were synced, in that order.
 * 2. Nothing waits for a lock, and nothing depends on a clock that people can set. What two processes must not both do
 *    is decided by `link`, which fails where a name exists (see `run-register.node.ts`).
 * 3. A head never names what is gone, also while somebody collects (see `collection.node.ts`).
 * 4. Inside the folder no link is followed, and no name comes from outside unchecked.
 *
 * `docs/stores.md` has the layout, and what each operation costs.
 */
import type { Digest } from '../../../src/base/digest.ts'
import { CaissonError } from '../../../src/base/errors.ts'
import type { Collected, CollectOptions, RunHead, RunLease, RunStore } from '../../../src/ports/run-store.ts'
import {
  checkBlob,
  checkDigest,
  checkedEntries,
  checkedHead,
  checkRange,
  checkRunName,
  checkTtl,
  copyHead,
  graceOf,
} from '../check-arguments.ts'
import { HeldLeases } from '../held-leases.ts'
import { headMoved, leaseLost, logMoved, missingCheckpoint, positionBeyondLog } from '../store-refusals.ts'
import { StoreWork } from '../store-work.ts'
import { BlobFolder } from './blob-folder.node.ts'
import { cleanRun } from './clean-run.node.ts'
import { collect, wouldCollect } from './collection.node.ts'
import type { HeldRun } from './held-run.node.ts'
import { type Machine, thisMachine } from './machine.node.ts'
import type { OpenRun } from './open-runs.node.ts'
import { RunFolders } from './run-folders.node.ts'
import { RunLeases } from './run-leases.node.ts'
import type { RunState, SegmentRecord } from './run-state.node.ts'
import { damaged, errnoOf, ifThere, storeError, storing } from './store-error.ts'
import type { StoreFolder } from './store-folder.ts'
import { openFolder, StoreRoot } from './store-root.node.ts'

/**
 * Opens the store in the folder at `path`, and makes it where it is missing or empty.
 *
 * Any number of processes of one machine may have it open, also of several machines where the file system between
 * them has `link` that excludes (NFS has).
 * @throws CaissonError `invalid_argument` for a folder that holds something else, `unsupported` for a store of another
 * version, `store_failed` and `quota_exceeded` with the cause
 */
export async function openDirectoryRunStore(path: string): Promise<RunStore> {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) {
    throw new CaissonError('invalid_argument', 'A store needs the path of its folder.')
  }
  return openRunStoreIn(await openFolder(path), thisMachine())
}

/** As `openDirectoryRunStore`, in a folder that is open, as a process of that machine. */
export async function openRunStoreIn(folder: StoreFolder, machine: Machine): Promise<RunStore> {
  try {
    const root = await storing('opening the store', () => StoreRoot.open(folder))
    return new DirectoryRunStore(root, machine)
  } catch (error) {
    await folder.close().catch(() => {})
    throw error
  }
}

class DirectoryRunStore implements RunStore {
  readonly #root: StoreRoot
  readonly #blobs: BlobFolder
  readonly #leases: RunLeases
  readonly #folders: RunFolders
  readonly #work = new StoreWork(storeError)
  readonly #held: HeldLeases<HeldRun>
  #collecting: Promise<unknown> = Promise.resolve()

  constructor(root: StoreRoot, machine: Machine) {
    this.#root = root
    this.#blobs = new BlobFolder(root.blobs)
    this.#leases = new RunLeases(root, machine)
    this.#folders = new RunFolders(root)
    this.#held = new HeldLeases(this.#work, {
      nowMs: () => machine.monotonicMs(),
      isHeld: (held) => this.#isHeld(held),
      renew: (held, ttlMs) =>
        this.#holding(held, 'renewing a lease', (open) => this.#leases.renew(open, held, ttlMs)),
      giveBack: (held) => this.#giveBack(held),
    })
  }

  async putBlob(id: Digest, bytes: Uint8Array): Promise<void> {
    checkBlob(id, bytes)
    await this.#work.do('putting a checkpoint', () => this.#blobs.put(id, bytes))
  }

  async getBlob(id: Digest): Promise<Uint8Array | undefined> {
    checkDigest(id)
    return this.#work.do('getting a checkpoint', async () => {
      const bytes = await this.#blobs.get(id)
      if (bytes === undefined) await this.#root.checkThere()
      return bytes
    })
  }

  async head(run: string): Promise<RunHead | undefined> {
    checkRunName(run)
    const state = await this.#work.do('reading a head', () =>
      this.#folders.look(run, async (_open, { state }) => state),
    )
    return state?.head && copyHead(state.head)
  }

  async setHead(run: string, head: RunHead, lease: RunLease): Promise<void> {
    checkRunName(run)
    const copy = checkedHead(head)
    await this.#hold(run, lease, 'setting a head', async (open, held) => {
      await held.change(open, async ({ head: old }) => {
        const version = old?.version ?? 0
        if (copy.version !== version + 1) throw headMoved(run, version, copy.version)
        if (copy.position > held.length) throw positionBeyondLog(run, copy.position, held.length)
        // What the head names already, no collection takes.
        const safe = new Set(old?.chain)
        for (const id of copy.chain) {
          if (!safe.has(id) && !(await this.#blobs.keep(id))) throw missingCheckpoint(run, id)
        }
        return { head: copy }
      })
    })
  }

  async append(run: string, at: number, entries: readonly Uint8Array[], lease: RunLease): Promise<void> {
    checkRunName(run)
    const copies = checkedEntries(at, entries)
    await this.#hold(run, lease, 'appending to a log', async (open, held) => {
      if (held.length !== at) {
        await held.current(open)
        throw logMoved(run, held.length, at)
      }
      if (copies.length > 0) await held.append(open, copies)
      else await held.current(open)
    })
  }

  async entries(run: string, from: number, most: number): Promise<readonly Uint8Array[]> {
    checkRunName(run)
    checkRange(from, most)
    const found = await this.#work.do('reading a log', () =>
      this.#folders.look(run, async (open, current) => {
        for (let { number, state } = current; ; ) {
          const log = this.#logOf(run, state)
          // A file that another process has put into the next one is gone; the newest state names that one.
          const entries = await ifThere(() => open.log.read(log, from, most))
          if (entries !== undefined) return entries
          const newer = await open.register.read()
          if (newer === undefined || newer.number === number) throw damaged('a log file is missing', { run })
          ;({ number, state } = newer)
        }
      }),
    )
    return found ?? []
  }

  async lease(run: string, ttlMs: number): Promise<RunLease> {
    checkRunName(run)
    checkTtl(ttlMs)
    return this.#work.do('taking a lease', async () => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await this.#folders.use(run, 'make', async (open) => {
            if (open === undefined) throw damaged('the folder of a run cannot be made', { run })
            return this.#held.add(await this.#leases.take(open, ttlMs))
          })
        } catch (error) {
          // Another process removed the folder, which was empty, before anything was in it.
          if (errnoOf(error) !== 'ENOENT' || attempt === 10) throw error
          await this.#root.checkThere()
        }
      }
    })
  }

  async isLeased(run: string): Promise<boolean> {
    checkRunName(run)
    const isTaken = await this.#work.do('looking after a lease', () =>
      this.#folders.look(run, (open, { state }) => this.#leases.isTaken(open, state)),
    )
    return isTaken ?? false
  }

  async runs(): Promise<readonly string[]> {
    return this.#work.do('listing runs', async () => {
      const runs = await this.#folders.each(
        async ({ run }, { state }) => state.head !== undefined || this.#logOf(run, state).length > 0,
      )
      return runs
        .filter(([, visible]) => visible)
        .map(([run]) => run)
        .sort()
    })
  }

  async remove(run: string, lease: RunLease): Promise<void> {
    checkRunName(run)
    await this.#hold(run, lease, 'removing a run', async (open, held) => {
      await held.change(open, () => ({ removed: true, lease: undefined, head: undefined, log: [] }))
      this.#held.drop(held)
      // It is removed by now. What is left of it goes now, or with the next collection.
      await cleanRun(this.#root, this.#folders, open).catch(() => {})
    })
  }

  async collect(options?: CollectOptions): Promise<Collected> {
    const graceMs = graceOf(options)
    return this.#work.do('collecting', async () => {
      if (options?.dryRun === true) return wouldCollect(this.#blobs, this.#folders, graceMs)
      // Of two collections at once, the one would find what the other set aside.
      const collected = this.#collecting.then(() => collect(this.#root, this.#blobs, this.#folders, graceMs))
      this.#collecting = collected.catch(() => {})
      return collected
    })
  }

  close(): Promise<void> {
    return this.#work.close(async () => {
      await this.#held.giveAllBack()
      await this.#folders.close().catch(() => {})
      await this.#root.close().catch(() => {})
    })
  }

  async #isHeld(held: HeldRun): Promise<boolean> {
    try {
      await this.#holding(held, 'looking after a lease', (open) => held.current(open))
      return true
    } catch (error) {
      if (CaissonError.is(error, 'lease_lost') || CaissonError.is(error, 'disposed')) return false
      throw error
    }
  }

  /** What was asked for before it comes first. */
  async #giveBack(held: HeldRun): Promise<void> {
    const given = this.#folders.use(held.run, 'held', async (open) => {
      if (this.#held.drop(held) && open !== undefined) await this.#leases.giveBack(open, held)
    })
    await given.catch(() => {})
  }

  /** The log as this store knows it: what it holds, it knows to be acknowledged. */
  #logOf(run: string, state: RunState): readonly SegmentRecord[] {
    const held = this.#held.of(run)
    return held?.token === state.token && state.lease !== undefined ? held.sealedLog : state.log
  }

  #holding<T>(held: HeldRun, doing: string, act: (open: OpenRun) => Promise<T>): Promise<T> {
    return this.#hold(held.run, { fencingToken: held.token }, doing, act)
  }

  /** Acts on a run under a lease that this store gave. */
  #hold<T>(
    run: string,
    lease: Pick<RunLease, 'fencingToken'>,
    doing: string,
    act: (open: OpenRun, held: HeldRun) => Promise<T>,
  ): Promise<T> {
    return this.#work.do(doing, () =>
      this.#folders.use(run, 'held', async (open) => {
        const held = this.#held.of(run)
        if (held?.token !== lease.fencingToken) throw leaseLost(run)
        try {
          if (open === undefined) throw leaseLost(run)
          return await act(open, held)
        } catch (error) {
          const told = open === undefined ? error : await lossOr(error, held, open)
          if (CaissonError.is(told, 'lease_lost')) {
            await this.#root.checkThere()
            this.#held.drop(held)
          }
          throw told
        }
      }),
    )
  }
}

/** Whoever took the run puts its files away: what fails for that reason, fails because the run was lost. */
async function lossOr(error: unknown, held: HeldRun, open: OpenRun): Promise<unknown> {
  if (CaissonError.is(error, 'lease_lost')) return error
  try {
    await held.current(open)
    return error
  } catch (why) {
    return CaissonError.is(why, 'lease_lost') ? why : error
  }
}
