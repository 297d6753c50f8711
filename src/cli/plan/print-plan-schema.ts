/** What `caisson plan schema` does. */
import { PLAN_JSON_SCHEMA } from '../../graph/plan/plan-shape.ts'
import type { CliIo } from '../cli-io.ts'
import { EXIT } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'

/** For a terminal and for files in lines, which `jq` and people read. */
export function printPlanSchema(io: CliIo): number {
  const lines = JSON.stringify(JSON.parse(jsonText(PLAN_JSON_SCHEMA)), undefined, 2)
  io.stdout.write(`${lines}\n`)
  return EXIT.done
}
