import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { simulateMachine } from '../../../test/faults/simulated-machine.ts'
import { formatBeat, LeaseWatch } from './lease-watch.ts'
import { portableMachine, thisMachine } from './machine.node.ts'
import type { LeaseRecord } from './run-state.node.ts'

const record = (machine: string, process = '2'): LeaseRecord => ({
  id: '0'.repeat(32),
  machine,
  process,
  ttlMs: 10_000,
  uptimeMs: 1_000,
})

describe('a lease that somebody else holds', () => {
  it('1: is over when its process is dead, if that was on this boot', () => {
    const machine = simulateMachine('here', '1', new Set(['dead']))
    expect(new LeaseWatch(machine).remainingMs('r', record('here', 'dead'), undefined)).toBe(0)
    expect(new LeaseWatch(machine).remainingMs('r', record('elsewhere', 'dead'), undefined)).toBe(10_000)
  })

  it('1: runs out by the uptime of the machine, from its newest beat', () => {
    const machine = simulateMachine('here')
    const watch = (): LeaseWatch => new LeaseWatch(machine)
    machine.pass(9_000)
    expect(watch().remainingMs('r', record('here'), undefined)).toBe(1_000)
    expect(watch().remainingMs('r', record('here'), formatBeat(8_000, 4_000, 1))).toBe(2_000)
    machine.pass(1_000)
    expect(watch().remainingMs('r', record('here'), undefined)).toBe(0)
    // Half a beat counts as none.
    expect(watch().remainingMs('r', record('here'), '80')).toBe(0)
  })

  it('2: elsewhere is over when it was silent for as long as it lasts, by this process’s own clock', () => {
    const machine = simulateMachine('here')
    const watch = new LeaseWatch(machine)
    const elsewhere = record('elsewhere')
    expect(watch.remainingMs('r', elsewhere, undefined)).toBe(10_000)
    machine.pass(9_999)
    expect(watch.remainingMs('r', elsewhere, undefined)).toBe(1)
    // It renewed, with whatever its clocks say.
    expect(watch.remainingMs('r', elsewhere, formatBeat(5, 6_000, 1))).toBe(6_000)
    machine.pass(6_000)
    expect(watch.remainingMs('r', elsewhere, formatBeat(5, 6_000, 1))).toBe(0)
    expect(watch.remainingMs('r', { ...elsewhere, id: '1'.repeat(32) }, undefined)).toBe(10_000)
    expect(watch.remainingMs('another', elsewhere, undefined)).toBe(10_000)
  })

  it('2: is over after that time also where the uptime makes no sense', () => {
    const machine = simulateMachine('here')
    const watch = new LeaseWatch(machine)
    const future = { ...record('here'), uptimeMs: 10 ** 12 }
    expect(watch.remainingMs('r', future, undefined)).toBe(10_000)
    machine.pass(10_000)
    expect(watch.remainingMs('r', future, undefined)).toBe(0)
  })
})

/** Kills a process, and says which one it was. */
async function deadProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'])
  const ended = new Promise((resolve) => child.on('close', resolve))
  child.kill('SIGKILL')
  await ended
  return child.pid ?? Number.NaN
}

describe.each([
  ['as this system lets it be known', thisMachine],
  ['as any system does', portableMachine],
])('this machine, %s', (_name, machineOf) => {
  it('knows itself, and which of its processes live', async () => {
    const machine = machineOf()
    expect(machine.isThis(machine.id)).toBe(true)
    expect(machineOf().isThis(machine.id)).toBe(true)
    expect(machine.isThis(`${machine.id}x`)).toBe(false)
    expect(machine.isThis('')).toBe(false)
    expect(machine.isAlive(machine.process)).toBe(true)
    expect(machine.uptimeMs()).toBeGreaterThan(0)
    const [, ...rest] = machine.process.split(' ')
    expect(machine.isAlive([`${await deadProcess()}`, ...rest].join(' '))).toBe(false)
  })

  it('takes a process for alive whose name it cannot read', () => {
    for (const name of ['', 'x', '-1', '0', '../self']) expect(machineOf().isAlive(name), name).toBe(true)
  })
})

describe('another boot of a machine with the same name', () => {
  it('is another machine, as is one whose clock was set', () => {
    const machine = portableMachine()
    const [bootedAt = '', ...name] = machine.id.split(' ')
    for (const [apartMs, same] of [
      [1_000, true],
      [60_000, false],
      [-60_000, false],
    ] as const) {
      expect(machine.isThis([`${Number(bootedAt) + apartMs}`, ...name].join(' '))).toBe(same)
    }
  })
})
