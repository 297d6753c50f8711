/** What `caisson plan show` does. */
import { CaissonError } from '../../base/errors.ts'
import type { Plan } from '../../graph/plan/plan.ts'
import { planMermaid } from '../../graph/render/plan-mermaid.ts'
import { planSvg } from '../../graph/render/plan-svg.ts'
import { type PlanGuest, planGuests } from '../../runtime/plans/plan-guests.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'
import { CodeReader } from './code-reader.ts'
import { type PlanFile, readPlanFile } from './plan-file.ts'
import { planTree } from './plan-tree.ts'
import { tellRefused } from './refused-plan.ts'

const FORMATS = ['text', 'mermaid', 'svg', 'json'] as const

/** @returns the exit code. @throws CliError */
export async function showPlanFile(given: GivenFlags, io: CliIo): Promise<number> {
  const [name = '-'] = given.positionals
  const format = readFormat(given)
  const reader = new CodeReader()
  try {
    const file = await readPlanFile(name, reader, io)
    const { defined } = file
    if (defined === undefined) return tellRefused(file, given.has('json'), io)
    const { plan, digest } = defined
    const guests = await guestsOf(file, plan)
    switch (format) {
      case 'text':
        io.stdout.write(planTree(plan, digest, guests, io.stdout))
        break
      case 'mermaid':
        io.stdout.write(planMermaid(plan))
        break
      case 'svg':
        io.stdout.write(`${planSvg(plan)}\n`)
        break
      case 'json':
        io.stdout.write(`${jsonText({ status: 'valid', digest, plan, guests })}\n`)
        break
    }
    return EXIT.done
  } finally {
    await reader.close()
  }
}

/** The WebAssembly that it names by file. What it names by digest alone is nowhere here. */
async function guestsOf({ wasm }: PlanFile, plan: Plan): Promise<readonly PlanGuest[]> {
  const all = await planGuests(
    plan,
    async (digest) => {
      const bytes = wasm.get(digest)
      if (bytes === undefined) throw new CaissonError('not_found', 'It is not beside the plan.')
      return bytes
    },
    () => performance.now(),
  )
  return all.filter(({ digest }) => wasm.has(digest))
}

/** `--json` asks for one document, whatever is in it. @throws CliError usage */
function readFormat(given: GivenFlags): (typeof FORMATS)[number] {
  const wanted = given.value('format') ?? (given.has('json') ? 'json' : 'text')
  const format = FORMATS.find((one) => one === wanted)
  const hint = 'caisson plan show --help'
  if (format === undefined) {
    const message = `--format takes ${FORMATS.join(', ')}, not "${wanted.slice(0, 80)}".`
    throw new CliError({ exit: EXIT.usage, code: 'usage', message, hint })
  }
  if (given.has('json') && format !== 'json') {
    const message = `--json prints one JSON document: --format ${format} is none.`
    throw new CliError({ exit: EXIT.usage, code: 'usage', message, hint })
  }
  return format
}
