/**
 * Nodes of plans that are WebAssembly, whose process is killed in the middle of a call: another process goes on with the guest
 * where it was, and makes no call again that was answered. Verifying takes it from its beginning in one piece: same output, fuel, state.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { openRuntime } from '../../src/entry/node.ts'
import { bundledChild } from './bundled-child.ts'
import { sayingWorld, type WasmKind } from './wasm-plan.ts'

const folder = mkdtempSync(join(tmpdir(), 'caisson-wasm-plan-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.each([
  ['component', 3],
  ['module', 1],
] as const)(
  'a %s that is killed in call %i goes on elsewhere, and is verified there',
  async (kind: WasmKind, stuck) => {
    const store = join(folder, `${kind}-${stuck}`)
    const effects = `${store}.effects`
    const words = [await bundledChild('wasm-plan-child'), store, effects, kind, `${stuck}`]
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
    expect(signed?.receipt).toMatchObject({ kind, state: expect.stringMatching(/^sha256:/) })
    expect(signed?.receipt.calls).toHaveLength(4)
    await runtime.close()
    await kept.close()
  },
  300_000,
)

function lines(file: string): readonly string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1)
}
