/**
 * Programs that a plan names by file become text: what is approved is what is run, whatever becomes of the file.
 */
import type { Compensation, Plan, PlanNode, Program, Scope } from './plan.ts'
import { pointerTo } from './plan-problem.ts'

/** What a file holds, with the files that it imports, by their paths. */
export interface ReadProgram {
  readonly source: string
  readonly modules?: Readonly<Record<string, string>>
}

/**
 * The plan with every `file` replaced by what `read` gives.
 * @param read gets the path as it stands in the plan, and the JSON Pointer of the node, for messages
 */
export async function embedSources(
  plan: Plan,
  read: (file: string, at: string) => Promise<ReadProgram>,
): Promise<Plan> {
  return { ...plan, ...(await embedScope(plan, '', read)) }
}

type Read = (file: string, at: string) => Promise<ReadProgram>

async function embedScope(scope: Scope, at: string, read: Read): Promise<Scope> {
  const nodes: Record<string, PlanNode> = {}
  for (const [id, node] of Object.entries(scope.nodes))
    nodes[id] = await embedNode(node, pointerTo(`${at}/nodes`, id), read)
  return { ...scope, nodes }
}

async function embedNode(node: PlanNode, at: string, read: Read): Promise<PlanNode> {
  switch (node.kind) {
    case 'program':
      return withCompensation(await embedProgram(node, at, read), at, read)
    case 'call':
      return withCompensation(node, at, read)
    case 'each':
    case 'loop':
      return { ...node, do: await embedScope(node.do, `${at}/do`, read) }
    case 'plan':
      return { ...node, plan: { ...node.plan, ...(await embedScope(node.plan, `${at}/plan`, read)) } }
    default:
      return node
  }
}

async function withCompensation<N extends { readonly compensate?: Compensation }>(
  node: N,
  at: string,
  read: Read,
): Promise<N> {
  const { compensate } = node
  if (compensate?.kind !== 'program') return node
  return { ...node, compensate: await embedProgram(compensate, `${at}/compensate`, read) }
}

async function embedProgram<P extends Program>(program: P, at: string, read: Read): Promise<P> {
  const { file, ...rest } = program
  if (file === undefined) return program
  return { ...rest, ...(await read(file, at)) } as P
}
