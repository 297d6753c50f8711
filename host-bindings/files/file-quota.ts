/**
 * What a tree may take. Growth is counted from the moment the tree was opened: replacing and removing give back what
 * was there, so that a directory never becomes larger than it was by more than its quota.
 */
import { CaissonError } from '../../src/base/errors.ts'

export interface FileQuota {
  /** Largest file that may be written, and the most that one read returns, in bytes. Default 8 MiB. */
  readonly fileBytes: number
  /** Bytes by which the tree may grow. Default 64 MiB. */
  readonly totalBytes: number
  /** Files and directories by which the tree may grow. Default 10,000. */
  readonly entries: number
  /** Operations at work at once, each with at most 3 open descriptors; more wait in line. Default 16. */
  readonly operations: number
}

const DEFAULT_FILE_QUOTA: FileQuota = {
  fileBytes: 8 * 1024 * 1024,
  totalBytes: 64 * 1024 * 1024,
  entries: 10_000,
  operations: 16,
}

/** The quota with defaults. @throws CaissonError `invalid_limit` */
export function parseFileQuota(given: Partial<FileQuota> = {}): FileQuota {
  const quota = { ...DEFAULT_FILE_QUOTA, ...given }
  for (const [name, value] of Object.entries(quota)) {
    const min = name === 'operations' ? 1 : 0
    if (!Number.isSafeInteger(value) || value < min) {
      throw new CaissonError('invalid_limit', `The file quota "${name}" takes a whole number from ${min}.`)
    }
  }
  return quota
}

/** Counts growth against a quota. Ask `check` before a change, tell `add` after it. */
export class FileGrowth {
  private bytes = 0
  private entries = 0
  private readonly quota: FileQuota

  constructor(quota: FileQuota) {
    this.quota = quota
  }

  /** @throws CaissonError `quota_exceeded` where growing by so much would exceed the quota */
  check(bytes: number, entries: number): void {
    if (bytes > 0) this.refuseAbove('totalBytes', this.bytes + bytes, 'bytes')
    if (entries > 0) this.refuseAbove('entries', this.entries + entries, 'files and directories')
  }

  add(bytes: number, entries: number): void {
    this.bytes += bytes
    this.entries += entries
  }

  /** @throws CaissonError `quota_exceeded` for a file larger than the quota allows */
  checkFile(bytes: number): void {
    this.refuseAbove('fileBytes', bytes, 'bytes in one file')
  }

  private refuseAbove(name: keyof FileQuota, value: number, unit: string): void {
    const limit = this.quota[name]
    if (value <= limit) return
    throw new CaissonError('quota_exceeded', `The directory may take at most ${limit} ${unit} more.`, {
      details: { quota: name, limit },
    })
  }
}

/** @throws CaissonError `result_too_large` where one read would return more than the quota allows */
export function checkReadSize(bytes: number, quota: FileQuota): void {
  if (bytes <= quota.fileBytes) return
  throw new CaissonError(
    'result_too_large',
    `One read returns at most ${quota.fileBytes} bytes; read the file in parts with "offset" and "length".`,
    { details: { limit: quota.fileBytes } },
  )
}
