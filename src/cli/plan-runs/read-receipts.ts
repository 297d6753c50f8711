/** Receipts that somebody has, as `caisson receipts` printed them: one line of JSON each. */
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { SignedReceipt } from '../../journal/receipt.ts'
import { fromTaggedJson } from '../../values/tagged-json.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { EXIT } from '../exit-code.ts'
import { readText } from '../run/read-text.ts'

/** Their form is checked by whoever verifies. @throws CliError */
export async function readReceipts(file: string, io: CliIo): Promise<readonly SignedReceipt[]> {
  const text = await readText(file, 'receipts', io)
  const lines = text.split('\n')
  return lines.flatMap((line, i) => (line.trim() === '' ? [] : [receiptOf(line, file, i + 1)]))
}

function receiptOf(line: string, file: string, number: number): SignedReceipt {
  try {
    return fromTaggedJson(JSON.parse(line)) as SignedReceipt
  } catch (cause) {
    if (!(cause instanceof SyntaxError) && !CaissonError.is(cause)) throw cause
    throw new CliError({
      exit: EXIT.refusedInput,
      code: 'invalid_argument',
      message: `--receipts ${clipText(file, 200)}: line ${number} is no receipt.`,
      hint: 'caisson receipts RUN prints them, one line of JSON each.',
      cause,
    })
  }
}
