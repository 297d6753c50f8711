/** What OpenTelemetry gets, through its own SDK: trees of spans, metrics, links between processes, and nothing secret. */
import * as api from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../host-bindings/store/memory-run-store.ts'
import { type OpenTelemetryOptions, openTelemetry } from '../../host-bindings/telemetry/open-telemetry.ts'
import type { OpenTelemetryApi } from '../../host-bindings/telemetry/open-telemetry-api.ts'
import {
  ERROR_CLASS,
  ERROR_TYPE,
  METRICS,
  ATTRIBUTE_NAMES as NAMES,
  OUTCOME,
} from '../../host-bindings/telemetry/telemetry-names.ts'
import {
  CaissonError,
  type Capability,
  capability,
  openRuntime,
  type Plan,
  type Runtime,
  type RuntimeOptions,
  type Telemetry,
} from '../../src/entry/node.ts'

const SECRET = 'hunter2-of-a-person'

/** An SDK of one process. */
function sdk(given: Partial<OpenTelemetryOptions> = {}, exporter: SpanExporter = new InMemorySpanExporter()) {
  const traces = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const metricsExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({
    exporter: metricsExporter,
    exportIntervalMillis: 60_000,
  })
  const meters = new MeterProvider({ readers: [reader] })
  const telemetry = openTelemetry({
    api,
    tracer: traces.getTracer('caisson'),
    meter: meters.getMeter('caisson'),
    ...given,
  })
  return {
    telemetry,
    spans: (): readonly ReadableSpan[] => (exporter as InMemorySpanExporter).getFinishedSpans(),
    /** Sums and counts of a metric, by its attributes in one text. */
    async metric(name: string): Promise<Readonly<Record<string, number>>> {
      await reader.forceFlush()
      const latest = metricsExporter
        .getMetrics()
        .at(-1)
        ?.scopeMetrics.flatMap(({ metrics }) => metrics)
      const points = latest?.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
      return Object.fromEntries(
        points.map(({ attributes, value }) => [
          Object.values(attributes).join(' '),
          typeof value === 'number' ? value : value.count,
        ]),
      )
    },
    exported: (): string =>
      JSON.stringify([
        metricsExporter.getMetrics(),
        (exporter as InMemorySpanExporter)
          .getFinishedSpans()
          .map(({ name, attributes, events, status, links }) => ({
            name,
            attributes,
            events,
            status,
            links,
          })),
      ]),
  }
}

/** A tree as indented lines: name, outcome, and what is not the same every time. */
function tree(spans: readonly ReadableSpan[]): readonly string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId))
  const lines = (under: string | undefined, depth: number): readonly string[] =>
    spans
      .filter(({ parentSpanContext }) =>
        under === undefined
          ? parentSpanContext === undefined || !ids.has(parentSpanContext.spanId)
          : parentSpanContext?.spanId === under,
      )
      .sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
      .flatMap((span) => {
        const error = span.attributes[ERROR_TYPE]
        const line = `${'  '.repeat(depth)}${span.name}: ${span.attributes[OUTCOME]}${error === undefined ? '' : ` (${error})`}`
        return [line, ...lines(span.spanContext().spanId, depth + 1)]
      })
  return lines(undefined, 0)
}

const using = async <T>(options: RuntimeOptions, work: (runtime: Runtime) => Promise<T>): Promise<T> => {
  const runtime = await openRuntime(options)
  try {
    return await work(runtime)
  } finally {
    await runtime.close()
  }
}

const lookUp = (): Capability => {
  let times = 0
  return capability({
    name: 'prices.lookUp',
    description: 'A price',
    effect: 'read',
    retry: { attempts: 2, delayMs: () => 0 },
    invoke: () => {
      times += 1
      if (times === 1) throw new CaissonError('network_failed', `no answer for ${SECRET}`)
      return { price: 3, password: SECRET }
    },
  })
}
const now = capability({
  name: 'host.now',
  description: 'A number',
  effect: 'read',
  sync: true,
  invoke: () => 1,
})

it('takes the API of the package, as it is', () => {
  const taken: OpenTelemetryApi = api
  expect(taken).toBe(api)
})

describe('a program', () => {
  const source = `
    host.now(); host.now()
    await prices.lookUp({ sku: 1, password: ${JSON.stringify(SECRET)} })
    await prices.missing().catch(() => {})
    await prices.forbidden({}).catch(() => {})
    return ${JSON.stringify(SECRET)}`
  const options = (telemetry: Telemetry): RuntimeOptions => ({
    telemetry,
    capabilities: [lookUp(), now, { ...lookUp(), name: 'prices.forbidden' }],
  })
  const grants = ['prices.lookUp', 'host.now', { capability: 'prices.forbidden', revoked: () => true }]

  it('is a span with its calls in it, each with attempts, outcome and error; metrics say the same', async () => {
    const { telemetry, spans, metric } = sdk()
    const outcome = await using(options(telemetry), (runtime) =>
      runtime.run(source.replace('await prices.missing().catch(() => {})', ''), { grants }),
    )
    expect(outcome).toMatchObject({ status: 'completed' })
    expect(tree(spans())).toEqual([
      'run: completed',
      '  execute_tool prices.lookUp: completed',
      '  execute_tool prices.forbidden: refused (revoked)',
    ])
    const [run, call] = ['run', 'execute_tool prices.lookUp'].map((name) =>
      spans().find((span) => span.name === name),
    )
    expect(run?.attributes).toMatchObject({
      [NAMES.form]: 'program',
      [NAMES.fuel]: outcome.usage.fuel,
      [NAMES.engine]: outcome.engine,
    })
    expect(call?.attributes).toMatchObject({
      [NAMES.attempts]: 2,
      [NAMES.effect]: 'read',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'prices.lookUp',
    })
    expect(call?.events.map(({ name, attributes }) => [name, attributes?.[ERROR_TYPE]])).toEqual([
      ['caisson.retrying', 'network_failed'],
    ])
    expect(await metric(METRICS.calls.name)).toEqual({
      'prices.lookUp completed': 1,
      'prices.forbidden refused': 1,
      'host.now completed': 2,
    })
    expect(await metric(METRICS.refusals.name)).toEqual({ 'prices.forbidden revoked': 1 })
    expect(await metric(METRICS.retries.name)).toEqual({ 'call network_failed': 1 })
    expect(await metric(METRICS.fuel.name)).toEqual({ '': outcome.usage.fuel })
    expect(await metric(METRICS.callDuration.name)).toMatchObject({ 'prices.lookUp completed': 1 })
    expect(await metric(METRICS.liveGuests.name)).toEqual({ '': 0 })
  })

  it('tells no value, unless content is asked for, and then none under a name that says secret', async () => {
    for (const content of [false, true]) {
      const { telemetry, exported, spans } = sdk({ content })
      await using(options(telemetry), (runtime) => runtime.run(source, { grants }))
      expect(spans().length).toBeGreaterThan(1)
      expect(exported()).not.toContain(SECRET)
      const told = spans().find(({ name }) => name.endsWith('lookUp'))?.attributes
      expect(told?.['gen_ai.tool.call.arguments']).toBe(
        content ? '{"sku":1,"password":"[hidden]"}' : undefined,
      )
      expect(told?.['gen_ai.tool.call.result']).toBe(
        content ? '{"price":3,"password":"[hidden]"}' : undefined,
      )
    }
  })

  it('with the label `secret` tells no value either way', async () => {
    const { telemetry, spans } = sdk({ content: true })
    await using(options(telemetry), (runtime) =>
      runtime.run('await prices.lookUp({ sku: 1 })', { grants, label: 'secret' }),
    )
    for (const { attributes } of spans())
      expect(Object.keys(attributes).filter((name) => name.startsWith('gen_ai.tool.call.'))).toEqual([])
  })

  it('makes up no codes', async () => {
    const { telemetry, spans } = sdk()
    await using({ telemetry }, (runtime) =>
      runtime.run(`throw Object.assign(new Error('x'), { code: ${JSON.stringify(SECRET)} })`),
    )
    expect(tree(spans())).toEqual(['run: failed (guest_error)'])
  })

  it('that is kept and put down links to what was told before, its checkpoints told too', async () => {
    const store = createMemoryRunStore()
    const first = sdk()
    const source2 = 'await prices.lookUp(1); await prices.lookUp(2); return 1'
    const own = { grants: ['prices.lookUp'] }
    await using({ ...options(first.telemetry), store }, (runtime) =>
      runtime.run(source2, { ...own, run: 'r', stopAtCall: 2 }),
    )
    expect(tree(first.spans())).toEqual([
      'run: suspended',
      '  execute_tool prices.lookUp: completed',
      '  checkpoint: completed',
    ])
    expect(await first.metric(METRICS.waitingRuns.name)).toEqual({ program: 1 })
    expect(await first.metric(METRICS.checkpointSize.name)).toEqual({ '': 1 })
    const second = sdk()
    const outcome = await using({ ...options(second.telemetry), store }, (runtime) =>
      runtime.resume('r', own),
    )
    expect(outcome).toMatchObject({ status: 'completed', value: 1 })
    const [before, after] = [first, second].map(({ spans }) => spans().find(({ name }) => name === 'run'))
    expect(after?.links.map(({ context }) => context.spanId)).toEqual([before?.spanContext().spanId])
    expect(after?.attributes).toMatchObject({ [NAMES.resumed]: true, [NAMES.run]: 'r' })
    const [told, was] = await Promise.all([second, first].map(({ metric }) => metric(METRICS.fuel.name)))
    expect((told?.[''] ?? 0) + (was?.[''] ?? 0)).toBe(outcome.usage.fuel)
  })
})

describe('a run of a plan', () => {
  const plan: Plan = {
    format: 'plan/1',
    name: 'report',
    version: '1',
    grants: ['prices.slow'],
    nodes: {
      fetch: {
        kind: 'call',
        capability: 'prices.slow',
        input: { value: { password: SECRET } },
        retry: { attempts: 2, on: ['transient'] },
      },
      count: { kind: 'program', source: 'return 2', after: ['fetch'] },
      ask: { kind: 'approval', question: 'Well?', after: ['count'] },
    },
  }
  const slow = (): Capability => {
    let times = 0
    return capability({
      name: 'prices.slow',
      description: 'A price',
      effect: 'read',
      expose: ['network_failed'],
      invoke: () => {
        times += 1
        if (times === 1) throw new CaissonError('network_failed', SECRET)
        return 3
      },
    })
  }

  it('has a span in each process, with nodes, calls, retries and answers of people, linked to the one before', async () => {
    const store = createMemoryRunStore()
    const first = sdk()
    await using({ store, capabilities: [slow()], telemetry: first.telemetry }, async (runtime) => {
      const run = await runtime.propose(plan, { by: 'ann', run: 'p' })
      await run.approve({ by: 'ann', digest: (await run.view()).request })
      await run.start({ by: 'ann' })
      expect(await run.outcome()).toMatchObject({ status: 'waiting' })
    })
    expect(tree(first.spans())).toEqual([
      'run report: waiting',
      '  node fetch: completed',
      '    execute_tool prices.slow: failed (network_failed)',
      '    execute_tool prices.slow: completed',
      '  node count: completed',
      '    run: completed',
      '  node ask: waiting',
    ])
    const fetched = first.spans().find(({ name }) => name === 'node fetch')
    expect(fetched?.events.map(({ name, attributes }) => [name, attributes?.[ERROR_CLASS]])).toEqual([
      ['caisson.retrying', 'transient'],
    ])
    expect(fetched?.attributes[NAMES.attempts]).toBe(2)
    expect(await first.metric(METRICS.waitingRuns.name)).toEqual({ plan: 1 })
    expect(first.exported()).not.toContain(SECRET)

    const second = sdk()
    await using({ store, capabilities: [slow()], telemetry: second.telemetry }, async (runtime) => {
      const run = await runtime.planRun('p')
      const [request] = await run.requests()
      if (request === undefined) throw new Error('nothing is asked')
      await run.decide({ request: request.digest, by: 'ann', decision: 'approve' })
      await run.resume({ by: 'ann', point: (await run.view()).point })
      expect(await run.outcome()).toMatchObject({ status: 'completed' })
    })
    expect(tree(second.spans())).toEqual([
      'approval ask: approved',
      'run report: completed',
      '  node ask: completed',
    ])
    const [before, after] = [first, second].map(({ spans }) =>
      spans().find(({ name }) => name === 'run report'),
    )
    expect(after?.links.map(({ context }) => context.spanId)).toEqual([before?.spanContext().spanId])
    expect(await second.metric(METRICS.approvalDuration.name)).toEqual({ approved: 1 })
  })
})

describe('a run whose process is gone in the middle of a call', () => {
  it('is told as put down, and as taken up by who goes on, with the node that was under way', async () => {
    const store = createMemoryRunStore()
    const plan: Plan = {
      format: 'plan/1',
      name: 'cut',
      version: '1',
      grants: ['prices.slow'],
      nodes: { fetch: { kind: 'call', capability: 'prices.slow' } },
    }
    let hangs = true
    let begun: () => void = () => {}
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    const slow = capability({
      name: 'prices.slow',
      description: 'A price',
      effect: 'read',
      invoke: () => {
        begun()
        return hangs ? new Promise(() => {}) : 3
      },
    })
    const first = sdk()
    await using({ store, capabilities: [slow], telemetry: first.telemetry }, async (runtime) => {
      const run = await runtime.propose(plan, { by: 'ann', run: 'c' })
      await run.approve({ by: 'ann', digest: (await run.view()).request })
      await run.start({ by: 'ann' })
      await isBegun
    })
    expect(tree(first.spans())).toEqual([
      'run cut: interrupted',
      '  node fetch: interrupted',
      '    execute_tool prices.slow: stopped',
    ])
    hangs = false
    const second = sdk()
    await using({ store, capabilities: [slow], telemetry: second.telemetry }, async (runtime) => {
      const run = await runtime.planRun('c')
      await run.resume({ by: 'ann', point: (await run.view()).point })
      expect(await run.outcome()).toMatchObject({ status: 'completed' })
    })
    expect(tree(second.spans())).toEqual([
      'run cut: completed',
      '  node fetch: completed',
      '    execute_tool prices.slow: completed',
    ])
    const [before, after] = [first, second].map(({ spans }) => spans().find(({ name }) => name === 'run cut'))
    expect(after?.links.map(({ context }) => context.traceId)).toEqual([before?.spanContext().traceId])
    const node = second.spans().find(({ name }) => name === 'node fetch')
    expect(node?.attributes[NAMES.resumed]).toBe(true)
  })
})

describe('telemetry that fails', () => {
  const failing: Record<string, () => Telemetry> = {
    'whose exporter throws': () =>
      sdk(
        {},
        {
          export: () => {
            throw new Error('exporter')
          },
          shutdown: async () => {},
        },
      ).telemetry,
    'that throws at everything': () => ({
      event: () => {
        throw new Error('event')
      },
      span: () => {
        throw new Error('span')
      },
    }),
    'that rejects, and whose spans throw': () => ({
      event: (() => Promise.reject(new Error('event'))) as Telemetry['event'],
      span: () => ({
        get traceparent(): string {
          throw new Error('traceparent')
        },
        event: () => {
          throw new Error('event')
        },
        within: (work) => {
          work()
          work()
          throw new Error('within')
        },
        end: () => {
          throw new Error('end')
        },
      }),
    }),
    'that gives nonsense': () =>
      ({ event: () => 1, span: () => ({ traceparent: 'x'.repeat(1e6), within: () => 7, end: 5 }) }) as never,
    'that never answers': () => ({ event: () => new Promise(() => {}), span: () => undefined }) as never,
  }

  const small: Plan = {
    format: 'plan/1',
    name: 'small',
    version: '1',
    grants: ['a.b'],
    nodes: {
      a: { kind: 'call', capability: 'a.b' },
      b: { kind: 'program', source: 'return 1', after: ['a'] },
    },
  }

  it.each(Object.keys(failing))('%s changes nothing of a run', async (kind) => {
    const resultsWith = async (telemetry: Telemetry | undefined): Promise<unknown> => {
      let calls = 0
      const capabilities = [
        capability({ name: 'a.b', description: 'x', effect: 'read', invoke: () => ++calls }),
      ]
      const store = createMemoryRunStore()
      return using({ capabilities, store, ...(telemetry && { telemetry }) }, async (runtime) => {
        const own = { grants: ['a.b'], seed: 1, stateDigest: true }
        const whole = await runtime.run('return [await a.b(), await a.b()]', { ...own, nowMs: 5 })
        const kept = await runtime.run('await a.b(); return 1', { ...own, run: 'r' })
        const run = await runtime.propose(small, { by: 'ann', run: 'p' })
        await run.approve({ by: 'ann', digest: (await run.view()).request })
        await run.start({ by: 'ann' })
        const { status, used } = await run.outcome()
        return {
          whole: [whole.stateDigest, whole.usage.fuel],
          kept: kept.usage.fuel,
          status,
          fuel: used.fuel,
          calls,
        }
      })
    }
    const seen = [await resultsWith(undefined), await resultsWith(failing[kind]?.())]
    expect(seen[0]).toMatchObject({ calls: 4, status: 'completed' })
    expect(seen[1]).toEqual(seen[0])
  })

  it('is told how much it was not told', async () => {
    const told: unknown[] = []
    let broken = true
    const telemetry: Telemetry = {
      event: (name, attributes) => {
        if (broken) throw new Error('not yet')
        told.push([name, attributes])
      },
    }
    await using({ telemetry }, async (runtime) => {
      await runtime.run('return 1')
      broken = false
      await runtime.run('return 1')
    })
    expect(told).toEqual([
      ['guest.live', { change: 1 }],
      ['telemetry.dropped', { count: 2 }],
      ['guest.live', { change: -1 }],
    ])
  })
})
