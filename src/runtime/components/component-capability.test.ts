import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readSample } from '../../../scripts/samples/read-sample.ts'
import { capability, componentCapability, openRuntime } from '../../entry/node.ts'

const definition = {
  name: 'tool.run',
  description: 'Runs the tool.',
  effect: 'read',
  input: z.object({ input: z.string() }),
  output: z.string(),
} as const
const text = { ...definition, input: z.string() }
const hostCall = (_name: string, json: string): string => {
  if (json.includes('bad')) throw Object.assign(new Error('refused'), { payload: 'not that' })
  return json.toUpperCase()
}

describe('a component as a capability', () => {
  it('is called by a guest through the gate, and by many one after the other', async () => {
    await using tools = await openRuntime()
    const component = await tools.openComponent(await readSample('tool-c'), {
      interfaces: { $root: { hostCall } },
    })
    await using runtime = await openRuntime({ capabilities: [componentCapability(component, 'run', text)] })
    const program = `const all = await Promise.all(['a', 'b'].map((one) => tool.run(one)))
      let refused; try { await tool.run('bad') } catch (error) { refused = error.code }
      let wrong; try { await tool.run(5) } catch (error) { wrong = error.code }
      return { all, refused, wrong }`
    expect(await runtime.run(program, { grants: ['tool.run'] })).toMatchObject({
      value: {
        all: ['{"LINE":"A"}', '{"LINE":"B"}'],
        refused: 'capability_failed',
        wrong: 'invalid_arguments',
      },
    })
    expect(await component.call('totals')).toMatchObject({ value: [2, 24] })
    const ungranted = await runtime.run('return typeof tool')
    expect(ungranted).toMatchObject({ value: 'undefined' })
  })

  it('is called by another component, and opened anew when it has ended', async () => {
    await using tools = await openRuntime()
    const bytes = await readSample('hostile-c')
    let times = 0
    const tool = componentCapability(
      () => {
        times += 1
        return tools.openComponent(bytes, { interfaces: { $root: { hostCall } } })
      },
      'run',
      {
        ...definition,
        name: 'hostCall',
        input: z.object({ name: z.string(), arguments: z.string() }),
        output: z.string(),
      },
    )
    // The parameters of `hostile` are `which` and `text`.
    const asked = capability({
      ...definition,
      name: 'hostCall',
      input: z.object({ name: z.string(), arguments: z.string() }),
      invoke: ({ arguments: said }, context) =>
        tool.invoke({ which: said.includes('trap') ? 'trap' : 'none', text: said } as never, context),
    })
    await using runtime = await openRuntime({ capabilities: [asked] })
    const component = await runtime.openComponent(await readSample('tool-c'), { grants: ['hostCall'] })
    expect(await component.call('run', ['a'])).toMatchObject({ value: { tag: 'ok', val: '{"line":"a"}' } })
    expect(await component.call('run', ['trap'])).toMatchObject({
      value: { tag: 'err', val: expect.stringContaining('capability_failed') },
    })
    expect(await component.call('run', ['b'])).toMatchObject({ value: { tag: 'ok', val: '{"line":"b"}' } })
    expect(times).toBe(2)
  }, 120_000)
})
