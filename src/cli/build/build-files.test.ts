import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readSample } from '../../../scripts/samples/read-sample.ts'
import type { OpenComponent } from '../../component/open-component.ts'
import type { PrebuiltManifest } from '../../component/prebuilt-manifest.ts'
import { openRuntime } from '../../entry/node.ts'
import type { CliIo } from '../cli-io.ts'
import { EXIT } from '../exit-code.ts'
import { runCli } from '../run-cli.ts'

let cwd = ''
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'caisson-build-'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

async function caisson(
  ...args: readonly string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' }
  const output = (to: 'stdout' | 'stderr'): CliIo['stdout'] => ({
    write: (text) => {
      written[to] += text
    },
    isTerminal: false,
    columns: 80,
    colours: false,
  })
  const io: CliIo = {
    stdout: output('stdout'),
    stderr: output('stderr'),
    stdin: () => new Blob([]).stream() as unknown as AsyncIterable<Uint8Array>,
    cwd,
    onInterrupt: () => () => {},
  }
  return { code: await runCli(args, io), ...written }
}

describe('caisson build', () => {
  it('writes files from which the component is opened, and not when one was changed', async () => {
    await writeFile(join(cwd, 'types.wasm'), await readSample('types-c'))
    expect(await caisson('build', 'types.wasm', '--out', 'site/types', '--memory', '16MiB')).toMatchObject({
      code: EXIT.done,
      stdout: expect.stringContaining('component.json'),
    })
    const folder = join(cwd, 'site/types')
    const manifest = JSON.parse(await readFile(join(folder, 'component.json'), 'utf8')) as PrebuiltManifest
    const read = (file: string): Promise<Uint8Array> => readFile(join(folder, file))
    await using runtime = await openRuntime()
    using component = await runtime.openComponent({ manifest, read })
    expect(await component.call('add-u8', [1, 2])).toMatchObject({ status: 'completed', value: 3 })
    const path = join(folder, 'core-0.wasm')
    const bytes = await readFile(path)
    bytes[100] = (bytes[100] as number) ^ 1
    await writeFile(path, bytes)
    await expect(runtime.openComponent({ manifest, read })).rejects.toMatchObject({ code: 'corrupted' })
  })

  it('makes a component that waits where it is asked for, and is refused where it was not', async () => {
    await writeFile(join(cwd, 'tool.wasm'), await readSample('tool-as'))
    await using runtime = await openRuntime({
      capabilities: [
        { name: 'hostCall', description: 'Says it.', effect: 'read', invoke: async () => 'later' },
      ],
    })
    const open = async (out: string): Promise<OpenComponent> => {
      const read = (file: string): Promise<Uint8Array> => readFile(join(cwd, out, file))
      const manifest = JSON.parse(new TextDecoder().decode(await read('component.json'))) as PrebuiltManifest
      return runtime.openComponent({ manifest, read }, { grants: ['hostCall'] })
    }
    expect((await caisson('build', 'tool.wasm', '--out', 'waits', '--suspend', 'hostCall')).code).toBe(
      EXIT.done,
    )
    using component = await open('waits')
    expect(await component.call('run', ['a'])).toMatchObject({ value: { tag: 'ok', val: 'later' } })
    expect((await caisson('build', 'tool.wasm', '--out', 'not')).code).toBe(EXIT.done)
    await expect(open('not')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('caisson build --suspend'),
    })
    expect(await caisson('build', 'tool.wasm', '--out', 'no', '--suspend', 'other.one')).toMatchObject({
      code: EXIT.usage,
      stderr: expect.stringContaining('caisson:capabilities/other'),
    })
  })

  it('says what is wrong with what it was given, and writes nothing', async () => {
    await writeFile(join(cwd, 'module.wasm'), await readSample('module-as'))
    expect((await caisson('build', 'module.wasm', '--out', 'out')).code).toBe(EXIT.refusedInput)
    expect((await caisson('build', 'nothing.wasm', '--out', 'out')).code).toBe(EXIT.usage)
    expect((await caisson('build', 'module.wasm')).stderr).toContain('--out')
    await expect(readFile(join(cwd, 'out/component.json'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
