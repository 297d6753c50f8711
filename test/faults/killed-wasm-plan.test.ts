/**
 * Nodes of plans that are WebAssembly, whose process is killed in the middle of a call: another process goes on with the guest
 * where it was, and makes no call again that was answered. Verifying takes it from its beginning in one piece: same output, fuel, state.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { openRuntime } from '../../src/entry/node.ts'
import { bundledChild } from './bundled-child.ts'
import { kindOf, sayingWorld } from './wasm-plan.ts'

const folder = mkdtempSync(join(tmpdir(), 'caisson-wasm-plan-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(async () => {
  const write = (name: string, bytes: Uint8Array): void => writeFileSync(join(folder, name), bytes)
  const module = await readSample('asking-c')
  write('tool-as.wasm', await readSample('tool-as'))
  write('asking-c.wasm', module)
  write('woven.wasm', await readSample('tool-js'))
  write('large.wasm', withCustomSection(module, 5_000_000))
})

it.each([
  ['a component', 3],
  ['a module', 1],
  ['a component of modules that call each other', 3],
  ['a large module', 2],
] as const)(
  '%s that is killed in call %i goes on elsewhere, and is verified there',
  async (guest, stuck) => {
    const kind = kindOf(guest)
    const store = join(folder, `${guest}-${stuck}`)
    const effects = `${store}.effects`
    const words = [await bundledChild('wasm-plan-child'), store, effects, guest, `${stuck}`, folder]
    const running = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] })
    const ended = new Promise<string | null>((resolve) =>
      running.on('close', (_code, signal) => resolve(signal)),
    )
    while (!existsSync(effects) || lines(effects).length < stuck) {
      expect(running.exitCode, 'the child ended by itself').toBeNull()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    running.kill('SIGKILL')
    expect(await ended).toBe('SIGKILL')

    const asked: string[] = []
    const kept = await openDirectoryRunStore(store)
    const runtime = await openRuntime({
      capabilities: sayingWorld(async (line) => void asked.push(line)),
      store: kept,
      receipts: { states: true },
    })
    const run = await runtime.planRun('killed')
    await run.resume({ by: 'test', point: (await run.view()).point })
    expect(await run.outcome()).toMatchObject({ status: 'completed' })
    // The call that nobody answered is made again; the others are not. (Fuel and state: `verify` compares them.)
    expect([...lines(effects).slice(0, stuck - 1), ...asked]).toEqual(
      [0, 1, 2, 3].map((number) =>
        expect.stringContaining(kind === 'module' ? `p${number}` : ('abcd'[number] as string)),
      ),
    )
    const before = asked.length
    expect(await runtime.verify('killed')).toMatchObject({ ok: true, executed: 1, unchecked: [] })
    expect(asked).toHaveLength(before)
    const [signed] = await runtime.receipts('killed')
    expect(signed?.receipt).toMatchObject({ kind })
    // Of the others there is more state than memory and globals.
    const hasState = guest !== 'a component of modules that call each other'
    expect(signed?.receipt.state !== undefined).toBe(hasState)
    expect(signed?.receipt.calls).toHaveLength(4)
    await runtime.close()
    await kept.close()
  },
  300_000,
)

/** Of many bytes that mean nothing. */
function withCustomSection(bytes: Uint8Array, size: number): Uint8Array {
  const length = size + 1
  const leb = [length & 0x7f, (length >> 7) & 0x7f, (length >> 14) & 0x7f, length >> 21]
  const head = [0, ...leb.map((part, at) => (at < 3 ? part | 0x80 : part)), 0]
  const made = new Uint8Array(bytes.length + head.length + size)
  made.set(bytes)
  made.set(head, bytes.length)
  return made
}

function lines(file: string): readonly string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1)
}
