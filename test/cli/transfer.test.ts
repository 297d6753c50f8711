/** Runs of plans taken from one store to another, and erased, on the command line. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDirectoryRunStore } from '../../src/entry/bindings.node.ts'
import { cli, type Ended, type Folder, makeFolder } from './cli.testkit.ts'
import { flat } from './kept.testkit.ts'

const ASKS =
  'format: plan/1\nname: asks\nversion: "1"\nnodes:\n  words: { kind: program, source: "return input + 1", input: { $from: input } }\n  agree: { kind: approval, question: "Well?", show: { $from: words } }\noutput: { $from: agree/value }\n'

let folder: Folder
beforeEach(() => {
  folder = makeFolder({ 'asks.yaml': ASKS })
})
afterEach(() => folder.remove())

const caisson = (...args: readonly string[]): Promise<Ended> =>
  cli(args, { cwd: folder.path, anyThread: true })

describe('caisson export and caisson import', () => {
  it('take a run to another store, where it goes on once its point was confirmed', async () => {
    await caisson('plan', 'start', 'asks.yaml', '--approve', '--run', 'r', '--input', '1', '--store', 'a')
    expect(await caisson('export', 'r', '--store', 'a')).toMatchObject({ code: 2 })
    const exported = await caisson('export', 'r', '--store', 'a', '--output', 'r.run', '--json')
    expect(exported.code).toBe(0)
    const bytes = readFileSync(join(folder.path, 'r.run'))
    expect(JSON.parse(exported.stdout)).toEqual({ run: 'r', bytes: bytes.length })
    const imported = await caisson('import', 'r.run', '--store', 'b', '--json')
    const { point, status } = JSON.parse(imported.stdout) as { point: string; status: string }
    expect([imported.code, status]).toEqual([0, 'frozen'])
    expect(flat((await caisson('runs', '--store', 'b')).stdout)).not.toContain('r.imported')
    const again = await caisson('import', 'r.run', '--store', 'b')
    expect([again.code, flat(again.stderr)]).toEqual([
      2,
      expect.stringContaining('There is a run "r" already'),
    ])
    // A run keeps its name: the next step is another store, or the run that is there.
    expect(flat(again.stderr)).not.toContain('--run')
    expect(flat(again.stderr)).toContain('caisson show r --store b')
    expect((await caisson('resume', 'r', '--store', 'b')).code).not.toBe(0)
    expect((await caisson('verify', 'r', '--store', 'b')).code).toBe(0)
    // It asks.
    expect((await caisson('resume', 'r', '--store', 'b', '--confirm', point)).code).toBe(6)
  })

  it('refuse a file that was changed, or is none, with its place', async () => {
    await caisson('plan', 'start', 'asks.yaml', '--approve', '--run', 'r', '--input', '1', '--store', 'a')
    await caisson('export', 'r', '--store', 'a', '--output', 'r.run')
    const bytes = readFileSync(join(folder.path, 'r.run'))
    bytes[100] = (bytes[100] as number) ^ 1
    writeFileSync(join(folder.path, 'changed.run'), bytes)
    const changed = await caisson('import', 'changed.run', '--store', 'b', '--json')
    expect(changed.code).toBe(7)
    expect(JSON.parse(changed.stdout)).toMatchObject({ error: { code: 'corrupted' } })
    expect((await caisson('import', 'asks.yaml', '--store', 'b')).code).toBe(7)
    expect((await caisson('import', 'missing.run', '--store', 'b')).code).toBe(2)
  })
})

describe('caisson erase', () => {
  it('takes the values of a run away, and what happened can be verified', async () => {
    const hello =
      'format: plan/1\nname: hello\nversion: "1"\nnodes:\n  hi: { kind: program, source: "return input", input: { $from: input } }\noutput: { $from: hi }\n'
    writeFileSync(join(folder.path, 'hello.yaml'), hello)
    const at = ['--store', 'a'] as const
    const propose = ['plan', 'propose', 'hello.yaml', '--input', '"a secret of bob"', '--approve', ...at]
    await caisson(...propose, '--run', 'r', '--erasable')
    await caisson(...propose, '--run', 'plain')
    expect((await caisson('erase', 'r', ...at)).code).not.toBe(0)
    expect((await caisson('plan', 'start', 'r', ...at)).stdout).toContain('a secret of bob')
    await caisson('plan', 'start', 'plain', ...at)
    expect((await caisson('erase', 'plain', ...at)).code).toBe(7)
    expect((await caisson('erase', 'r', '--by', 'carol', ...at)).code).toBe(0)
    const shown = await caisson('show', 'r', ...at)
    expect([shown.code, flat(shown.stdout)]).toEqual([
      0,
      expect.stringMatching(/erased +its values, by carol at 2/),
    ])
    expect(shown.stdout).not.toContain('a secret of bob')
    const verified = await caisson('verify', 'r', ...at)
    expect([verified.code, flat(verified.stdout)]).toEqual([
      0,
      expect.stringContaining('erased: its values, by carol'),
    ])
    expect(JSON.parse((await caisson('verify', 'r', '--json', ...at)).stdout)).toMatchObject({
      ok: true,
      erased: { by: 'carol' },
    })
    expect(verified.stdout).not.toContain('comes out the same')
    // What needs the values is refused, which is no defect.
    for (const command of [['receipts'], ['fork', '--at', '3']] as const) {
      const [name, ...flags] = command
      const refused = await caisson(name, 'r', ...flags, ...at)
      expect([name, refused.code, flat(refused.stderr)]).toEqual([
        name,
        7,
        expect.stringContaining('caisson show r --store a says who erased them'),
      ])
    }
  })

  it('takes them away of a run that is damaged only where that is said', async () => {
    const at = ['--store', 'a'] as const
    const propose = ['plan', 'propose', 'asks.yaml', '--input', '1', '--approve', '--erasable']
    await caisson(...propose, '--run', 'r', ...at)
    await caisson('plan', 'start', 'r', ...at)
    const store = await openDirectoryRunStore(join(folder.path, 'a'))
    const entries = await store.entries('r', 0, 1_000)
    const old = await store.lease('r', 1_000)
    await store.remove('r', old)
    const lease = await store.lease('r', 1_000)
    await store.append('r', 0, [...entries.slice(0, 2), ...entries.slice(3)], lease)
    await lease.release()
    await store.close()
    const refused = await caisson('erase', 'r', '--by', 'carol', ...at)
    expect([refused.code, flat(refused.stderr)]).toEqual([7, expect.stringContaining('Entry 2')])
    expect(await caisson('erase', 'r', '--by', 'carol', '--unreadable', ...at)).toMatchObject({ code: 0 })
    const verified = await caisson('verify', 'r', '--json', ...at)
    expect(verified.code).toBe(7)
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: false, erased: { by: 'carol' } })
  })
})

describe('caisson compact', () => {
  it('cuts the journal of a run that has ended, and says so wherever it is looked at', async () => {
    const plan =
      'format: plan/1\nname: hello\nversion: "1"\nnodes:\n  hi: { kind: program, source: "return input", input: { $from: input } }\noutput: { $from: hi }\n'
    writeFileSync(join(folder.path, 'hello.yaml'), plan)
    const at = ['--store', 'a'] as const
    await caisson('plan', 'propose', 'hello.yaml', '--input', '"seen"', '--approve', '--run', 'r', ...at)
    expect((await caisson('compact', 'r', ...at)).code).not.toBe(0)
    await caisson('plan', 'start', 'r', ...at)
    expect((await caisson('compact', 'r', '--by', 'carol', ...at)).code).toBe(0)
    const shown = flat((await caisson('show', 'r', ...at)).stdout)
    expect(shown).toMatch(/cut +its journal of \d+ entries, by carol at 2/)
    expect(shown).toContain('seen')
    const verified = await caisson('verify', 'r', ...at)
    expect([verified.code, flat(verified.stdout)]).toEqual([
      0,
      expect.stringContaining('cut: its journal of'),
    ])
    expect(verified.stdout).not.toContain('(event 0)')
    for (const command of [
      ['receipts'],
      ['fork', '--at', '3'],
      ['plan events'],
      ['export', '--output', 'r.run'],
    ] as const) {
      const [name, ...flags] = command
      const refused = await caisson(...name.split(' '), 'r', ...flags, ...at)
      expect([name, refused.code, flat(refused.stderr)]).toEqual([
        name,
        2,
        expect.stringContaining('The journal of run "r" was cut'),
      ])
    }
    const listed = (await caisson('runs', ...at)).stdout
    expect(listed).toMatch(/^r\tcompleted/)
    expect(listed).not.toContain('r.cut')
    expect((await caisson('collect', ...at)).code).toBe(0)
  })
})
