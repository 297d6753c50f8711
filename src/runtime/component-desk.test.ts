import { describe, expect, it } from 'vitest'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { openRuntime } from '../entry/node.ts'

describe('components of a runtime', () => {
  it('are opened, called, and kept from what they were not given', async () => {
    await using runtime = await openRuntime()
    const bytes = await readSample('tool-c')
    const interfaces = { $root: { hostCall: (name: string, json: string) => `${name}:${json}` } }
    const component = await runtime.openComponent(bytes, { interfaces, limits: { fuel: 10_000_000 } })
    expect(await component.call('run', ['a'])).toMatchObject({ status: 'completed', value: { tag: 'ok' } })
    await expect(runtime.openComponent(bytes)).rejects.toMatchObject({ code: 'missing_imports' })
  })

  it('are refused for what they are not', async () => {
    await using runtime = await openRuntime()
    const module = await readSample('module-as')
    const component = await readSample('types-c')
    await expect(runtime.openComponent(module)).rejects.toMatchObject({ code: 'invalid_module' })
    await expect(runtime.openComponent(component.slice(0, 900))).rejects.toMatchObject({
      code: 'invalid_component',
    })
    await expect(runtime.openComponent(new Uint8Array(0))).rejects.toMatchObject({ code: 'invalid_module' })
    await expect(runtime.openComponent('text' as unknown as Uint8Array)).rejects.toMatchObject({
      code: 'invalid_argument',
    })
    await expect(
      runtime.openComponent(component, { limits: { memoryBytes: 2 ** 31 } }),
    ).rejects.toMatchObject({ code: 'invalid_limit' })
  })
})
