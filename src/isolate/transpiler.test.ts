import { describe, expect, it, vi } from 'vitest'
import { packagedTypeScript } from '../../host-bindings/engines/packaged-typescript.ts'
import { neutralPageTools as tools } from '../snapshot/neutral-page-tools.ts'
import { BaseImage } from './base-image.ts'
import { EngineInstance } from './engine-instance.ts'
import { base, engine, FREELY } from './isolate.testkit.ts'
import { Transpiler } from './transpiler.ts'

const DOMAIN = 'default'
const monotonic = (): number => 0
const open = (load: typeof packagedTypeScript | undefined, image = base): Transpiler =>
  new Transpiler({ engine, base: image, tools, load, monotonic })

describe('the transpiler', () => {
  it('gives code, and the places of what moved', async () => {
    const result = await open(packagedTypeScript).transpile('enum A { X }\nlet a: A = A.X', DOMAIN, FREELY)
    expect(result).toMatchObject({ status: 'done', code: expect.stringMatching(/\nlet a {4}= A\.X$/) })
    expect(result.status === 'done' && result.places.length % 4).toBe(0)
  })

  it('ends by fuel where parsing never would', async () => {
    // Deep enough for minutes, and not too deep for the stack.
    const result = await open(packagedTypeScript).transpile('a?(b,c='.repeat(30), DOMAIN, FREELY)
    expect(result).toMatchObject({ status: 'exhausted', limit: 'fuel' })
  })

  it('stops when it is told to', async () => {
    const transpiler = open(packagedTypeScript)
    const source = 'let a: number = 1\n'.repeat(2_000)
    expect(await transpiler.transpile(source, DOMAIN, { deadline: -1 })).toMatchObject({ limit: 'wall' })
    expect(await transpiler.transpile(source, DOMAIN, { ...FREELY, aborted: () => true })).toEqual({
      status: 'aborted',
    })
  })

  it('holds nothing of a source when it has read it, and gives the next one the same', async () => {
    const overwritten = vi.spyOn(EngineInstance.prototype, 'resetStack')
    const transpiler = open(packagedTypeScript)
    const source = 'const secret: string = "the word is xyzzy"'
    const first = await transpiler.transpile(source, DOMAIN, FREELY)
    const used = overwritten.mock.contexts.at(-1) as EngineInstance
    expect(Buffer.from(used.bytes).includes('xyzzy')).toBe(false)
    expect(used.stackIsEmpty).toBe(true)
    expect(await transpiler.transpile(source, DOMAIN, FREELY)).toEqual(first)
    expect(overwritten.mock.contexts.at(-1)).toBe(used)
    overwritten.mockRestore()
  })

  it('reads for another trust domain, and after a refusal, in another instance', async () => {
    const served = vi.spyOn(EngineInstance.prototype, 'serve')
    const transpiler = open(packagedTypeScript)
    await transpiler.transpile('1', 'one', FREELY)
    const before = served.mock.calls.length
    await transpiler.transpile('1', 'one', FREELY)
    expect(served.mock.calls).toHaveLength(before)
    await transpiler.transpile('1', 'other', FREELY)
    expect(served.mock.calls).toHaveLength(before + 1)
    expect(await transpiler.transpile('let x: = 1', 'other', FREELY)).toMatchObject({ status: 'refused' })
    await transpiler.transpile('1', 'other', FREELY)
    expect(served.mock.calls).toHaveLength(before + 2)
    served.mockRestore()
  })

  it('is loaded once for an engine, and again after a failure', async () => {
    const image = new BaseImage(engine)
    let loads = 0
    const load = async (): Promise<string> => {
      loads += 1
      if (loads === 1) throw new Error('offline')
      return packagedTypeScript()
    }
    await expect(open(load, image).transpile('1', DOMAIN, FREELY)).rejects.toThrow('offline')
    expect(await open(load, image).transpile('1', DOMAIN, FREELY)).toMatchObject({ status: 'done' })
    expect(await open(load, image).transpile('2', DOMAIN, FREELY)).toMatchObject({ status: 'done' })
    expect(loads).toBe(2)
  })

  it('is refused when it is not the one of this version', async () => {
    const changed = async (): Promise<string> => `${await packagedTypeScript()} `
    await expect(open(changed, new BaseImage(engine)).transpile('1', DOMAIN, FREELY)).rejects.toMatchObject({
      code: 'engine_mismatch',
    })
  })

  it('is unsupported where the platform brings none', async () => {
    await expect(open(undefined, new BaseImage(engine)).transpile('1', DOMAIN, FREELY)).rejects.toMatchObject(
      {
        code: 'unsupported',
      },
    )
  })
})
