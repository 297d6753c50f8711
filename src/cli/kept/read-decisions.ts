/** `--answer` and `--confirm`: what a person decides about calls that nobody else may decide about. */
import type { Digest } from '../../base/digest.ts'
import { clipText } from '../../base/escape-text.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { readInput } from '../run/read-input.ts'
import { isDigest } from '../units/is-digest.ts'

export interface Decisions {
  readonly answers: readonly { readonly id: number; readonly value: unknown }[]
  readonly confirm: readonly (number | Digest)[]
}

const ID = /^[1-9]\d{0,14}$/

/** @throws CliError usage, refused input for a file with malformed content */
export async function readDecisions(given: GivenFlags, io: CliIo): Promise<Decisions> {
  const confirm = given.values('confirm').map(parseConfirm)
  const answers: { id: number; value: unknown }[] = []
  for (const text of given.values('answer')) {
    const split = text.indexOf('=')
    const id = text.slice(0, split)
    if (split < 0 || !ID.test(id)) {
      throw usage(
        `--answer takes the id of a call and its answer, not "${clipText(text, 80)}".`,
        `For example --answer 2='{"price": 5}', or --answer 2=@answer.json.`,
      )
    }
    answers.push({ id: Number(id), value: await readInput(text.slice(split + 1), io, `--answer ${id}`) })
  }
  const ids = [...answers.map(({ id }) => id), ...confirm]
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) {
    throw usage(`Call ${twice} is decided about twice.`, 'Answer it, or confirm that it is made again.')
  }
  return { answers, confirm }
}

function parseConfirm(text: string): number | Digest {
  if (ID.test(text)) return Number(text)
  if (isDigest(text)) return text
  throw usage(
    `--confirm takes the id of a call or its digest, not "${clipText(text, 80)}".`,
    'caisson resume shows the ids; with --json also the digests.',
  )
}

function usage(message: string, hint: string): CliError {
  return new CliError({ exit: EXIT.usage, code: 'usage', message, hint })
}
