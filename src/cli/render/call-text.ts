/** Calls that a list or a record tells of, in one line. Everything is somebody else's text: escaped and bounded. */
import { clipText, escapeText } from '../../base/escape-text.ts'
import type { SummarizedCall } from '../../runtime/run-summary.ts'

const LONGEST_NAME = 100

/** `call 2 shop.order {"sku":"B-2"}` */
export function callText({ id, capability, args }: SummarizedCall): string {
  const name = escapeText(clipText(capability, LONGEST_NAME))
  return args === undefined ? `call ${id} ${name}` : `call ${id} ${name} ${escapeText(args)}`
}
