/** What `caisson verify` does. */
import { parsePublicKey } from '../../../host-bindings/system/ed25519-keys.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText, escapeText } from '../../base/escape-text.ts'
import { ruleOf } from '../../graph/plan/authority.ts'
import { grantsOf } from '../../graph/plan/node-kinds.ts'
import type { Plan } from '../../graph/plan/plan.ts'
import { visitNodes } from '../../graph/plan/plan-code.ts'
import type { Verification, VerifyOptions } from '../../runtime/plans/verify/verification.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { TENANT } from '../kept/run-place.ts'
import { jsonText } from '../render/json-text.ts'
import { shownText } from '../render/shown-text.ts'
import { type Style, styleFor } from '../render/style.ts'
import { textWidth } from '../render/text-width.ts'
import { hangText } from '../render/wrap-text.ts'
import { Interruption } from '../run/interruption.ts'
import { showProgress } from '../run/progress-line.ts'
import { readText } from '../run/read-text.ts'
import { isDigest } from '../units/is-digest.ts'
import { cutText, erasedText } from './erased-text.ts'
import { inPlanSession } from './plan-session.ts'
import { readReceipts } from './read-receipts.ts'

/** A public key, as caisson keys new and receipts show it. */
const KEY_DIGITS = /^[0-9a-f]{64}$/
const KNOWN = /^(\d{1,15})=(.+)$/
const MOST_UNCHECKED = 20

/** @returns the exit code. @throws CliError */
export async function verifyPlanRun(given: GivenFlags, io: CliIo): Promise<number> {
  const [name = ''] = given.positionals
  const known = given.values('known').map(readKnown)
  const signers: Uint8Array[] = []
  for (const key of given.values('signer')) signers.push(await readSigner(key, io))
  const receiptFile = given.value('receipts')
  const receipts = receiptFile === undefined ? [] : await readReceipts(receiptFile, io)
  const interruption = new Interruption()
  const ignore = io.onInterrupt(() => interruption.interrupt())
  try {
    return await inPlanSession(
      given,
      io,
      { command: 'verify', run: name, tools: true },
      async ({ runtime, capabilities }) => {
        await checkTools(runtime, name, capabilities)
        const progress = showProgress(io.stderr, `verifying ${escapeText(name)}`)
        let verified: Verification
        try {
          verified = await runtime.verify(name, {
            domain: TENANT,
            known,
            signers,
            receipts,
            signal: interruption.signal,
          })
        } finally {
          progress.end()
        }
        if (given.has('json')) io.stdout.write(`${jsonText(verified)}\n`)
        else {
          const width = textWidth(io.stdout)
          const lines = linesOf(verified, signers.length > 0, width, styleFor(io.stdout))
          io.stdout.write(lines.map((line) => `${line}\n`).join(''))
        }
        return verified.ok ? EXIT.done : EXIT.refusedInput
      },
    )
  } finally {
    ignore()
  }
}

/** Guests are given functions of the names that they had. @throws CliError usage where some are not there */
async function checkTools(runtime: Runtime, name: string, there: readonly string[]): Promise<void> {
  const plan = await planOf(runtime, name)
  const wanted = new Set<string>()
  if (plan !== undefined) {
    visitNodes(plan, '', (node) => {
      for (const grant of grantsOf(node)) wanted.add(ruleOf(grant).capability)
    })
  }
  const missing = [...wanted].filter((one) => !there.includes(one))
  if (missing.length === 0) return
  throw new CliError({
    exit: EXIT.usage,
    code: 'unknown_capability',
    message: `Programs of the plan have ${missing.join(', ')}: to execute them again, the tools have to be there. Nothing of them is called.`,
    hint: 'Give them as when the run was started: --tools MODULE, --allow-read DIR, --allow-net HOST.',
  })
}

/** Undefined where the record cannot be read as a run: what is wrong with it is what verifying says. */
async function planOf(runtime: Runtime, name: string): Promise<Plan | undefined> {
  try {
    return (await runtime.planRun(name, { domain: TENANT })).plan
  } catch (error) {
    if (CaissonError.is(error, 'not_found') || !CaissonError.is(error)) throw error
    return undefined
  }
}

function linesOf(
  { ok, difference, run, events, executed, unchecked, signed, point, erased, cut }: Verification,
  trusts: boolean,
  width: number,
  style: Style,
): readonly string[] {
  const what = `${events} ${events === 1 ? 'event' : 'events'}, ${executed} ${executed === 1 ? 'program' : 'programs'} executed again`
  const rest = unchecked
    .slice(0, MOST_UNCHECKED)
    .flatMap(({ node, position, why }) =>
      hangText(
        '  not looked at: ',
        `${node === '' ? '' : `${shownText(node)} (event ${position}): `}${shownText(why)}`,
        width,
      ),
    )
  const more = unchecked.length - MOST_UNCHECKED
  const isAllThere = erased === undefined && cut === undefined
  return [
    ...(ok
      ? [
          `${style.green('whole:')} run ${run} ${isAllThere ? 'comes out the same' : 'is as it was left'}: ${what}`,
        ]
      : differenceLines(difference, run, width, style)),
    ...(trusts && signed !== undefined ? [`  signed up to event ${signed.events}`] : []),
    ...(cut === undefined ? [] : hangText('  cut: ', cutText(cut), width)),
    ...(erased === undefined ? [] : hangText('  erased: ', erasedText(erased), width)),
    ...rest,
    ...(more > 0 ? [`  ... ${more} more (--json has all)`] : []),
    ...(ok ? hangText('  point: ', `${events}=${point}`, width).map(style.dim) : []),
  ]
}

function differenceLines(
  difference: Verification['difference'],
  run: string,
  width: number,
  style: Style,
): readonly string[] {
  if (difference === undefined) return []
  const { of, position, node, recorded, found, message } = difference
  const where = `event ${position}${node === undefined ? '' : ` of ${shownText(node)}`}`
  const label = 'different:'
  const [first = '', ...others] = hangText(
    `${label} `,
    `run ${run} at ${where} (${of}): ${shownText(message)}`,
    width,
  )
  return [
    style.red(label) + first.slice(label.length),
    ...others,
    ...(recorded === undefined ? [] : hangText('  recorded: ', shownText(recorded), width)),
    ...(found === undefined ? [] : hangText('  found:    ', shownText(found), width)),
  ]
}

function readKnown(text: string): NonNullable<VerifyOptions['known']>[number] {
  const [, events, point] = KNOWN.exec(text) ?? []
  if (events !== undefined && point !== undefined && isDigest(point)) return { events: Number(events), point }
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `--known takes a number of events and the point after them, not "${clipText(text, 80)}".`,
    hint: 'For example --known 36=sha256:…, as caisson show tells both.',
  })
}

async function readSigner(file: string, io: CliIo): Promise<Uint8Array> {
  const text = KEY_DIGITS.test(file) ? file : await readText(file, 'key', io)
  try {
    return parsePublicKey(text)
  } catch (cause) {
    if (!CaissonError.is(cause)) throw cause
    throw new CliError({
      exit: EXIT.refusedInput,
      code: cause.code,
      message: `--signer ${clipText(file, 200)}: ${cause.message}`,
      hint: 'caisson keys new FILE writes one into FILE.pub; openssl pkey -in private.pem -pubout that of another private key.',
      cause,
    })
  }
}
