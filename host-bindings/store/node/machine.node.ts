/**
 * What processes on one machine know of each other without a clock that people can set: which boot this is, how long
 * ago it was, and which of its processes live.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, uptime } from 'node:os'

/** The machine that this process runs on. */
export interface Machine {
  /** Names this boot of this machine. */
  readonly id: string
  /** Names this process among those of this boot. */
  readonly process: string
  /** Since boot, the same for all processes of it. */
  uptimeMs(): number
  /** How far apart two processes may see the same moment, by `uptimeMs`. */
  readonly uptimeSlackMs: number
  /** For durations within this process. */
  monotonicMs(): number
  /** Whether `id` names this boot. False also where that cannot be told. */
  isThis(id: string): boolean
  /** Whether a process of this boot lives. True also where that cannot be told. */
  isAlive(process: string): boolean
}

/** The machine, as well as this system lets it be known. */
export function thisMachine(): Machine {
  return linuxMachine() ?? portableMachine()
}

/**
 * Linux: the boot has a random id. Containers count processes and uptime for themselves, so theirs belong to the name;
 * a process is named by its number and when it started, because numbers are given again.
 */
function linuxMachine(): Machine | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    const spaces = ['pid', 'time'].map(readNamespace).join(' ')
    const startedAt = readStart('self')
    if (boot === '' || startedAt === undefined) return undefined
    const id = `${boot} ${spaces}`
    return {
      id,
      // As this /proc counts, which may be another namespace than that of `process.pid`.
      process: `${readlinkSync('/proc/self')} ${startedAt}`,
      uptimeMs: () => Number.parseFloat(readFileSync('/proc/uptime', 'latin1')) * 1000,
      uptimeSlackMs: 20,
      monotonicMs: () => performance.now(),
      isThis: (other) => other === id,
      isAlive: (other) => {
        const [pid = '', start] = other.split(' ')
        try {
          return /^[1-9][0-9]*$/.test(pid) ? readStart(pid) === start : true
        } catch {
          return true // hidden, or not allowed to know
        }
      },
    }
  } catch {
    return undefined // no /proc, or not allowed to read it
  }
}

/** Elsewhere: the same host name, and booted at the same time. A clock that was set makes it another machine. */
export function portableMachine(): Machine {
  const bootedAtMs = (): number => Date.now() - uptime() * 1000
  const name = hostname()
  return {
    id: `${bootedAtMs().toFixed(0)} ${name}`,
    process: `${process.pid}`,
    uptimeMs: () => uptime() * 1000,
    uptimeSlackMs: 2_000,
    monotonicMs: () => performance.now(),
    isThis: (other) => {
      const space = other.indexOf(' ')
      const near = Math.abs(Number(other.slice(0, space)) - bootedAtMs()) < 5_000
      return near && other.slice(space + 1) === name
    },
    isAlive: (other) => !/^[1-9][0-9]*$/.test(other) || isSignalled(Number(other)),
  }
}

function readNamespace(kind: string): string {
  try {
    return readlinkSync(`/proc/self/ns/${kind}`)
  } catch {
    return kind // this kernel has none
  }
}

/**
 * When a process started, in ticks since boot; undefined when it is dead, also while its parent has not noticed.
 * Throws where that cannot be told.
 */
function readStart(pid: string): string | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH' || (code === 'ENOENT' && !isSignalled(Number(pid)))) return undefined
    throw error
  }
  // The name of the program stands in parentheses and may hold anything; the state is the first field behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
}

/** Whether a signal would reach a process, or be refused by it: some systems hide the processes of others. */
function isSignalled(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
