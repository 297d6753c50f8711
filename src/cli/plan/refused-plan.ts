/** What commands say of a plan that is refused. */
import type { CliIo } from '../cli-io.ts'
import { EXIT } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'
import type { PlacedProblem } from './plan-file.ts'
import { problemDocument, problemsText } from './problems-text.ts'

/** @returns the exit code */
export function tellRefused(
  { problems, count }: { readonly problems: readonly PlacedProblem[]; readonly count: number },
  json: boolean,
  io: CliIo,
): number {
  if (json) {
    const document = { status: 'refused', problems: problems.map(problemDocument), count }
    io.stdout.write(`${jsonText(document)}\n`)
  }
  io.stderr.write(problemsText(problems, count, io.stderr))
  return EXIT.refusedInput
}
