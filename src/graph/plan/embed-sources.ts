/**
 * Programs that a plan names by file become text: what is approved is what is run, whatever becomes of the file.
 */
import type { Compensation, Plan, PlanNode, Program, Scope } from './plan.ts'
import { pointerTo } from './plan-problem.ts'

/** What a file holds, with the files that it imports, by their paths from its folder. */
export type ReadProgram = Pick<Program, 'modules' | 'language'> & { readonly source: string }

/**
 * The plan with every `file` replaced by what `read` gives. Modules that the plan has itself stay.
 * @param read gets the program as it stands in the plan, and its JSON Pointer, for messages
 */
export async function embedSources(plan: Plan, read: ReadSource): Promise<Plan> {
  return { ...plan, ...(await embedScope(plan, '', read)) }
}

export type ReadSource = (
  program: Program & { readonly file: string },
  at: string,
) => ReadProgram | Promise<ReadProgram>

async function embedScope(scope: Scope, at: string, read: ReadSource): Promise<Scope> {
  const nodes: [id: string, node: PlanNode][] = []
  for (const [id, node] of Object.entries(scope.nodes))
    nodes.push([id, await embedNode(node, pointerTo(`${at}/nodes`, id), read)])
  return { ...scope, nodes: Object.fromEntries(nodes) }
}

async function embedNode(node: PlanNode, at: string, read: ReadSource): Promise<PlanNode> {
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
  read: ReadSource,
): Promise<N> {
  const { compensate } = node
  if (compensate?.kind !== 'program') return node
  return { ...node, compensate: await embedProgram(compensate, `${at}/compensate`, read) }
}

async function embedProgram<P extends Program>(program: P, at: string, read: ReadSource): Promise<P> {
  const { file, ...rest } = program
  if (file === undefined) return program
  const { source, modules, language } = await read({ ...program, file }, at)
  const all = { ...modules, ...program.modules }
  return {
    ...(language !== undefined && { language }),
    ...rest,
    source,
    ...(Object.keys(all).length > 0 && { modules: all }),
  } as P
}
