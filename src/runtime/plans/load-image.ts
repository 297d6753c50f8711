/**
 * The newest image of a run, as its head names it.
 *
 * Invariants
 * 1. One that cannot be used (missing, damaged, of another version) is passed over, and that is told: the journal says
 *    the same, and is read whole.
 * 2. One that can be used, and was made of another journal, is an error: somebody cut the journal off, or changed it.
 */
import { digestOf, isDigest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { DefinedPlan } from '../../graph/plan/define-plan.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import { stateOfImage } from '../../graph/run/state-of-image.ts'
import { checkImagePlace, type JournalImage, openImage } from '../../journal/journal-image.ts'
import type { RunHead } from '../../ports/run-store.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { RunOwner } from '../run-owner.ts'
import type { KnownStandings } from './known-standings.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import { type NamedImage, namedImage } from './value-shelves.ts'

export interface ImageParts extends Pick<PlanRunParts, 'store' | 'sealing' | 'plans'> {
  /** Left out, nothing is known from before. */
  readonly standings?: KnownStandings | undefined
  readonly telemetry?: Pick<Telemetry, 'event'> | undefined
}

/** A state to go on from, and where the journal goes on. */
export interface StandingImage extends Pick<JournalImage, 'end'> {
  readonly plan: DefinedPlan
  readonly state: RunState
  /** Of the image as it is stored. */
  readonly bytes: number
}

/**
 * @returns undefined where there is none, or none that can be used
 * @throws CaissonError `corrupted` for a journal that contradicts it, `store_failed`
 */
export async function loadImage(
  parts: ImageParts,
  owner: RunOwner,
  head: RunHead | undefined,
): Promise<StandingImage | undefined> {
  const named = namedImage(head)
  if (named === undefined) return undefined
  let image: StandingImage
  try {
    image = await readImage(parts, owner, named)
  } catch (error) {
    if (!CaissonError.is(error) || !UNUSABLE.has(error.code)) throw error
    tellPassedOver(parts, error.code)
    return undefined
  }
  await checkImagePlace(parts.store, owner.run, image)
  return image
}

/** @throws CaissonError `not_found`, `corrupted`, `checkpoint_refused`, `encryption_required`, `invalid_plan`, `store_failed` */
export async function readImage(
  { store, sealing, plans }: ImageParts,
  { run, tenant }: RunOwner,
  { digest, length }: NamedImage,
): Promise<StandingImage> {
  const sealed = await store.getBlob(digest)
  if (sealed === undefined) throw new CaissonError('not_found', `The image ${digest} is not in the store.`)
  if (digestOf(sealing.ports.hash.sha256(sealed)) !== digest)
    throw new CaissonError('corrupted', `The image ${digest} was changed in the store.`)
  const { end, state: data } = await openImage({ run, tenant, sealing }, length, sealed)
  const plan = await plans.load(store, planNamedBy(data))
  const state = stateOfImage(plan.plan, data)
  if (state.events !== length)
    throw new CaissonError('corrupted', `The image ${digest} shows another place than its own.`)
  return { plan, state, end, bytes: sealed.length }
}

/** Its shape is checked where the plan is known. */
function planNamedBy(data: unknown): DefinedPlan['digest'] {
  const { plan } = (data as { readonly proposal?: { readonly plan?: unknown } } | null)?.proposal ?? {}
  if (isDigest(plan)) return plan
  throw new CaissonError('corrupted', 'The image of the run names no plan.')
}

function tellPassedOver({ telemetry }: ImageParts, code: string): void {
  try {
    telemetry?.event('image.passed_over', { code })
  } catch {
    // Who listens changes nothing.
  }
}

const UNUSABLE: ReadonlySet<string> = new Set([
  'not_found',
  'corrupted',
  'checkpoint_refused',
  'encryption_required',
  'invalid_plan',
  'value_refused',
  'value_too_large',
  'value_too_deep',
  'unsupported',
])
