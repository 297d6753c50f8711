/** Ways in which a disk fails once: used on stores, and on all that is kept in them. */
import { VolatileDisk } from './volatile-disk.ts'
import { isChange, type Operation, type Watcher } from './watched-folder.ts'

/** A way to fail, and the code that it must lead to. */
export interface Failure {
  readonly code: 'store_failed' | 'quota_exceeded'
  meets(operation: Operation): boolean
  watcher(number: number): Watcher
}

/** Fails an operation; a sync that fails leaves nothing of what was to be synced. */
export const fail = (errno: string, { name, file }: Operation): never => {
  if (name === 'datasync' && file !== undefined) VolatileDisk.dropWrites(file)
  throw Object.assign(new Error(`${errno}: ${name}`), { code: errno })
}
const at = (number: number, errno: string) => (operation: Operation) => {
  if (operation.number === number && isChange(operation)) fail(errno, operation)
}

export const FAILURES: Readonly<Record<string, Failure>> = {
  'EIO instead of it': {
    code: 'store_failed',
    meets: isChange,
    watcher: (number) => ({ before: at(number, 'EIO') }),
  },
  'EIO after it happened': {
    code: 'store_failed',
    meets: isChange,
    watcher: (number) => ({ after: at(number, 'EIO') }),
  },
  'ENOSPC after half of it': {
    code: 'quota_exceeded',
    meets: ({ name }) => ['write', 'openFile', 'makeDirectory', 'link', 'rename', 'datasync'].includes(name),
    watcher: (number) => ({
      shorten: (operation, bytes) => (operation.number === number ? Math.floor(bytes / 2) : bytes),
      after: at(number, 'ENOSPC'),
    }),
  },
}
