/**
 * Programs that a plan names by file become text: what is approved is what is run, whatever becomes of the file.
 *
 * Invariant: what is embedded is no larger than a plan may be, however often a file is named. What goes beyond that is
 * refused at its place before anything is made of it.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { isRegistered, type RegisteredNode } from './node-kinds.ts'
import { PLAN_LIMITS } from './plain-tree.ts'
import type { Compensation, Plan, PlanNode, Program, Scope } from './plan.ts'
import { pointerTo, shownPointer } from './plan-problem.ts'

/** What a file holds, with the files that it imports, by their paths from its folder. */
export type ReadProgram = Pick<Program, 'modules' | 'language'> & { readonly source: string }

/**
 * The plan with every `file` replaced by what `read` gives. Modules that the plan has itself stay.
 * @param read gets the program as it stands in the plan, and its JSON Pointer, for messages
 * @param wasm gives the digest of the WebAssembly that a node names by file; its bytes go with the proposal. Left out,
 * such nodes stay as they are
 * @throws CaissonError `invalid_plan` with `details: { problems, count }` where all that is embedded, each time that it
 * is, is larger than a plan may be
 */
export async function embedSources(plan: Plan, read: ReadSource, wasm?: ReadWasm): Promise<Plan> {
  return { ...plan, ...(await new Embedding(read, wasm).scope(plan, '')) }
}

export type ReadSource = (
  program: Program & { readonly file: string },
  at: string,
) => ReadProgram | Promise<ReadProgram>

/** @param file as the node at this JSON Pointer names it */
export type ReadWasm = (file: string, at: string) => Digest | Promise<Digest>

class Embedding {
  readonly #read: ReadSource
  readonly #wasm: ReadWasm | undefined
  /** By the size rule of values: a string costs its length. */
  #bytes = 0

  constructor(read: ReadSource, wasm: ReadWasm | undefined) {
    this.#read = read
    this.#wasm = wasm
  }

  async scope(scope: Scope, at: string): Promise<Scope> {
    const nodes: [id: string, node: PlanNode][] = []
    for (const [id, node] of Object.entries(scope.nodes))
      nodes.push([id, await this.#node(node, pointerTo(`${at}/nodes`, id))])
    return { ...scope, nodes: Object.fromEntries(nodes) }
  }

  async #node(node: PlanNode, at: string): Promise<PlanNode> {
    switch (node.kind) {
      case 'program':
        return this.#withCompensation(await this.#program(node, at), at)
      case 'call':
        return this.#withCompensation(node, at)
      case 'each':
      case 'loop':
        return { ...node, do: await this.scope(node.do, `${at}/do`) }
      case 'plan':
        return { ...node, plan: { ...node.plan, ...(await this.scope(node.plan, `${at}/plan`)) } }
      default:
        if (isRegistered(node)) return this.#withCompensation(await this.#guest(node, at), at)
        return node
    }
  }

  async #guest<N extends RegisteredNode>(node: N, at: string): Promise<N> {
    const { file, ...rest } = node
    if (file === undefined || this.#wasm === undefined) return node
    return { ...rest, wasm: await this.#wasm(file, at) } as unknown as N
  }

  async #withCompensation<N extends { readonly compensate?: Compensation }>(node: N, at: string): Promise<N> {
    const { compensate } = node
    if (compensate?.kind !== 'program') return node
    return { ...node, compensate: await this.#program(compensate, `${at}/compensate`) }
  }

  async #program<P extends Program>(program: P, at: string): Promise<P> {
    const { file, ...rest } = program
    if (file === undefined) return program
    const { source, modules, language } = await this.#read({ ...program, file }, at)
    const all = { ...modules, ...program.modules }
    this.#count(source, all, `${at}/file`)
    return {
      ...(language !== undefined && { language }),
      ...rest,
      source,
      ...(Object.keys(all).length > 0 && { modules: all }),
    } as P
  }

  /** @throws CaissonError invalid_plan */
  #count(source: string, modules: Readonly<Record<string, string>>, at: string): void {
    this.#bytes += source.length
    for (const [name, text] of Object.entries(modules)) this.#bytes += name.length + text.length
    if (this.#bytes <= PLAN_LIMITS.bytes) return
    const problem = `with this file, what is embedded into the plan is larger than ${PLAN_LIMITS.bytes} bytes, each program counted where it stands`
    throw new CaissonError('invalid_plan', `The plan is not valid. ${shownPointer(at)}: ${problem}.`, {
      details: { problems: [{ at, problem }], count: 1 },
    })
  }
}
