/** docs/telemetry.md has every name that OpenTelemetry gets, and no other. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  ATTRIBUTE_NAMES,
  ERROR_CLASS,
  ERROR_TYPE,
  EVENT_NAMES,
  METRICS,
  OUTCOME,
  SPAN_NAMES,
  TOOL_ARGUMENTS,
  TOOL_NAME,
  TOOL_OPERATION,
  TOOL_RESULT,
} from '../../host-bindings/telemetry/telemetry-names.ts'
import { ROOT } from './documented-pages.ts'
import { tableRows } from './markdown-table.ts'

const page = readFileSync(join(ROOT, 'docs/telemetry.md'), 'utf8')
const code = (text: string): string => `\`${text}\``
const first = (heading: string): readonly (string | undefined)[] =>
  tableRows(page, heading).map(([name]) => name)

describe('docs/telemetry.md', () => {
  it('has every span, attribute and event', () => {
    expect(first('Spans')).toEqual(Object.values(SPAN_NAMES).map(code))
    const ends = [OUTCOME, ERROR_TYPE, ERROR_CLASS]
    const tools = [TOOL_OPERATION, TOOL_NAME, TOOL_ARGUMENTS, TOOL_RESULT]
    expect(first('Attributes')).toEqual([...Object.values(ATTRIBUTE_NAMES), ...ends, ...tools].map(code))
    expect(first('Events of spans')).toEqual(Object.values(EVENT_NAMES).map(code))
  })

  it('has every metric as it is', () => {
    expect(tableRows(page, 'Metrics')).toEqual(
      Object.values(METRICS).map(({ name, kind, unit, description, by }) => [
        code(name),
        kind,
        code(unit),
        description,
        by.map(code).join(', '),
      ]),
    )
  })
})
