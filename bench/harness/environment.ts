/** Where and when a report was measured: figures of different machines cannot be compared. */
import os from 'node:os'

export interface Environment {
  readonly runtime: string
  readonly v8?: string
  readonly platform: string
  readonly cpu: string
  readonly cores: number
  readonly memoryBytes: number
  /** Runnable processes per core before the benches started, 1-minute average; 0 where the system has none. */
  readonly loadPerCore: number
  /** ISO 8601, as the caller gave it. */
  readonly date: string
}

export function readEnvironment(date: Date): Environment {
  const cpus = os.cpus()
  const versions: NodeJS.ProcessVersions = process.versions
  const runtime = versions.bun ? `bun ${versions.bun}` : `node ${versions.node}`
  return {
    runtime,
    ...(versions.v8 && !versions.bun ? { v8: versions.v8 } : {}),
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus[0]?.model.trim() ?? 'unknown',
    cores: cpus.length,
    memoryBytes: os.totalmem(),
    loadPerCore: Math.round(((os.loadavg()[0] ?? 0) / Math.max(cpus.length, 1)) * 100) / 100,
    date: date.toISOString(),
  }
}
