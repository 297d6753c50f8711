/** What is said of kept runs: nothing that is not so, and the next step. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDirectoryRunStore } from '../../src/entry/bindings.node.ts'
import { capability, openRuntime } from '../../src/entry/node.ts'
import { renamedEngine } from '../checkpoints/renamed-engine.ts'
import { BOUGHT, flat, type KeptFolder, openKeptFolder, RIGHTS } from './kept.testkit.ts'

let kept: KeptFolder
beforeEach(() => {
  kept = openKeptFolder()
})
afterEach(() => kept.remove())

const STORE = ['--store', 'runs', '--run', 'r']

describe('what is said', () => {
  it('of a file that is no checkpoint is that, with how to make one', async () => {
    mkdirSync(join(kept.path, 'folder'))
    writeFileSync(join(kept.path, 'large.js'), `// ${'-'.repeat(500)}`)
    for (const name of ['shop.js', 'large.js', 'keys.json']) {
      const { code, stderr } = await kept.caisson(['show', name])
      expect(code).toBe(7)
      expect(flat(stderr)).toContain(`"${name}" is no checkpoint file`)
      expect(flat(stderr)).toContain('--checkpoint FILE')
    }
    expect(flat((await kept.caisson(['show', 'shop.js'])).stderr)).toContain('caisson run shop.js')
    const folder = await kept.caisson(['show', 'folder'])
    expect(folder.code).toBe(2)
    expect(flat(folder.stderr)).toContain('caisson runs --store folder')
  })

  it('of how to go on has the directories that the program had', async () => {
    mkdirSync(join(kept.path, 'in'))
    await kept.caisson(['run', 'shop.js', ...STORE, ...RIGHTS, '--allow-read', 'in', '--stop-at-call', '1'])
    const { stdout } = await kept.caisson(['show', 'r', '--store', 'runs'])
    expect(stdout).toMatch(/^ {2}caisson resume r --store runs --allow-read \S+in --tools MODULE /m)
  })

  it('of how to go on with a program that reached a limit has more of it', async () => {
    const ended = await kept.caisson(['run', 'shop.js', ...STORE, ...RIGHTS, '--calls', '1'])
    expect(ended.code).toBe(4)
    const { stdout } = await kept.caisson(['show', 'r', '--store', 'runs'])
    expect(stdout).toMatch(/^ {2}caisson resume r --store runs .* --calls 2_000$/m)
  })

  it('of what to do next is a command that works: with the store that was asked about', async () => {
    const store = "it's kept"
    await kept.caisson(['run', 'shop.js', '--store', store, '--run', 'r', ...RIGHTS])
    for (const command of ['show', 'resume']) {
      const { code, stderr } = await kept.caisson([command, 'other', '--store', store])
      expect(code).toBe(2)
      expect(flat(stderr)).toContain("caisson runs --store 'it'\\''s kept' lists the runs")
    }
    const taken = await kept.caisson(['run', 'shop.js', '--store', store, '--run', 'r', ...RIGHTS])
    expect(flat(taken.stderr)).toContain("caisson resume r --store 'it'\\''s kept'")
    const none = await kept.caisson(['runs', '--store', 'none here'])
    expect(flat(none.stderr)).toContain("caisson run FILE --store 'none here' makes one")
  })

  it('of a store that can be none is usage, and of a file that is not what it must be is refused', async () => {
    writeFileSync(join(kept.path, 'keyless.json'), '{', { mode: 0o600 })
    for (const [store, code] of [
      ['shop.js', 2],
      ['shop.js/store', 2],
    ] as const) {
      const ended = await kept.caisson(['run', 'shop.js', '--store', store, ...RIGHTS])
      expect(ended.code, store).toBe(code)
      expect(flat(ended.stderr)).toContain('Name an empty folder')
    }
    const withKeys = (file: string): readonly string[] => [
      'run',
      'shop.js',
      ...STORE,
      ...RIGHTS,
      '--key-file',
      file,
    ]
    expect((await kept.caisson(withKeys('keyless.json'))).code).toBe(7)
    expect((await kept.caisson(withKeys('missing.json'))).code).toBe(2)
  })

  it('of a name that is taken is the error, and no run', async () => {
    await kept.caisson(['run', 'shop.js', ...STORE, ...RIGHTS])
    const taken = await kept.caisson(['run', 'shop.js', ...STORE, ...RIGHTS])
    expect(taken.code).toBe(2)
    expect(taken.stderr).toMatch(/^error: There is a run "r" in runs already\./)
    expect(flat(taken.stderr)).toContain('caisson resume r --store runs')
  })

  it('of a call whose answer is recorded is not that it is waited for', async () => {
    writeFileSync(
      join(kept.path, 'both.js'),
      'return (await Promise.all([shop.price({ sku: 1 }), shop.order({ sku: 2 })])).length',
    )
    writeFileSync(join(kept.path, 'hang'), '')
    await kept.caisson(['run', 'both.js', ...STORE, ...RIGHTS, '--stop-at-call', '1'])
    await kept.caisson(['resume', 'r', '--store', 'runs', ...RIGHTS], {
      interruptWhen: () => kept.done().includes('order 2'),
    })
    const { stdout, json } = await kept.caisson(['show', 'r', '--store', 'runs', '--json'])
    expect(stdout).toContain('shop.price')
    expect(json()).toMatchObject({ run: { pending: [{ id: 2 }], unanswered: [{ id: 2 }] } })
  })

  it('of time in a store is that of the host, whatever --now says', async () => {
    const now = ['--now', '2001-01-01T00:00:00Z']
    await kept.caisson(['run', 'shop.js', ...STORE, ...RIGHTS, ...now, '--stop-at-call', '2'])
    const list = await kept.caisson(['runs', '--store', 'runs'])
    expect(list.stdout).toMatch(/^r\twaiting\t(?:now|\d+ s)\t/)
    const { stdout } = await kept.caisson(['show', 'r', '--store', 'runs'])
    expect(stdout).not.toMatch(/\d d ago/)
  })

  it('of a run that has ended is that nothing was run, and decisions about it are refused', async () => {
    await kept.caisson(['run', 'shop.js', ...STORE, ...RIGHTS])
    const again = await kept.resume('r', '--store', 'runs')
    expect(again).toMatchObject({ code: 0, stdout: BOUGHT })
    expect(flat(again.stderr)).toContain('note: the run had ended before')
    for (const decision of ['--answer=2="x"', '--confirm=2']) {
      const refused = await kept.resume('r', '--store', 'runs', decision)
      expect(refused).toMatchObject({ code: 2, stdout: '' })
      expect(flat(refused.stderr)).toContain('has ended (completed)')
    }
    expect(kept.done()).toHaveLength(3)
  })

  it('of a program that forges the code of an abort is no way to go on', async () => {
    writeFileSync(join(kept.path, 'forge.js'), 'throw Object.assign(new Error("x"), { code: "aborted" })')
    const forged = await kept.caisson(['run', 'forge.js', ...STORE])
    expect(forged.code).toBe(3)
    expect(forged.stderr).not.toContain('caisson resume')
    const { json } = await kept.caisson(['resume', 'r', '--store', 'runs', '--json'])
    expect(json()).toMatchObject({ resumable: false, unwritten: null })
  })

  it('of times used up is to the microsecond', async () => {
    const { json } = await kept.caisson(['run', 'shop.js', ...RIGHTS, '--json'])
    const { wallMs } = json().usage
    expect(wallMs).toBe(Math.round(wallMs * 1_000) / 1_000)
  })
})

describe('a program that was parked on another engine', () => {
  it('is taken from its start by --reexecute, and asks for nothing that is recorded', async () => {
    const asked: unknown[] = []
    const price = capability({
      name: 'shop.price',
      description: 'Price',
      effect: 'read',
      invoke: (args) => {
        asked.push(args)
        return { price: 7 }
      },
    })
    const store = await openDirectoryRunStore(join(kept.path, 'runs'))
    const runtime = await openRuntime({ engines: await renamedEngine(), store, capabilities: [price] })
    const source =
      'let sum = 0; for (const sku of [1, 2]) sum += (await shop.price({ sku })).price; return sum'
    await runtime.run(source, { grants: ['shop.price'], run: 'r', stopAtCall: 2 })
    await runtime.close()
    await store.close()
    const rights = ['--store', 'runs', '--tools', 'tools.mjs', '--grant', 'shop.price']
    const refused = await kept.caisson(['resume', 'r', ...rights])
    expect(refused.code).toBe(7)
    expect(flat(refused.stderr)).toContain('--reexecute')
    const resumed = await kept.caisson(['resume', 'r', ...rights, '--reexecute'])
    expect(resumed).toMatchObject({ code: 0, stdout: '12\n' }) // 7 by the record, 5 by the tools of now
    expect(asked).toHaveLength(1)
    expect(kept.done()).toEqual(['price 2'])
  })
})
