/** Whether a component that was prepared to leave its stack can: found by linking it without running anything. */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { ComponentAst } from './binary/component-ast.ts'
import type { CoreManifest } from './core/core-manifest.ts'
import { Reentry } from './core/reentry.ts'
import { FaultDomain } from './link/fault-domain.ts'
import { linkComponent } from './link/link-component.ts'
import type { CoreExports } from './link/link-scope.ts'

export interface UnwoundComponent {
  readonly parsed: { readonly root: ComponentAst }
  readonly cores: readonly { readonly manifest: CoreManifest }[]
}

const NO_VALUES = { bytes: 0, nodes: 0 }

/**
 * @returns why it cannot: another of its modules may call the one that waits, and stand between two of its frames then;
 *   undefined where none can
 */
export async function unwindProblem({ parsed, cores }: UnwoundComponent): Promise<CaissonError | undefined> {
  if (cores.length < 2 || !cores.some(({ manifest }) => manifest.suspends.length > 0)) return undefined
  const reentry = new Reentry()
  await linkComponent(parsed.root, {
    domain: new FaultDomain(NO_VALUES, () => {}),
    instantiate(module, given) {
      const manifest = cores[module]?.manifest
      if (manifest === undefined) return undefined
      reentry.link(manifest, given)
      const exports = placeholders(manifest)
      reentry.made(manifest, exports)
      return exports
    },
    func: (_path, _name, type) => ({ type, call: () => undefined }),
    resource: (_path, name) => ({ name, owner: undefined, drop: () => {} }),
    runDestructor: () => {},
  })
  if (!reentry.isHidden && reentry.names.length === 0) return undefined
  const how = reentry.isHidden ? 'through a table' : `by ${reentry.names.slice(0, 10).join(', ')}`
  return new CaissonError(
    'unsupported',
    clipText(
      `The component cannot leave its stack to wait: another of its modules calls the one that waits, ${how}.`,
      2_000,
    ),
    { details: { imports: [] } },
  )
}

/** Something of the right kind for each export, that is the same as nothing else. */
function placeholders({ exports }: CoreManifest): CoreExports {
  const made: Record<string, unknown> = Object.create(null)
  for (const { name, kind } of exports) made[name] = PLACEHOLDERS[kind]()
  return made
}

const PLACEHOLDERS: Readonly<Record<CoreManifest['exports'][number]['kind'], () => unknown>> = {
  function: () => () => undefined,
  table: () => new WebAssembly.Table({ initial: 0, element: 'anyfunc' }),
  memory: () => new WebAssembly.Memory({ initial: 0 }),
  global: () => new WebAssembly.Global({ value: 'i32' }, 0),
  tag: () => undefined,
}
