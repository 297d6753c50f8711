/** WebAssembly that a node of a plan names by file: within the folder of the plan, through no link and no `..`. */
import { openDirectoryFileTree } from '../../../host-bindings/files/node/directory-file-tree.node.ts'
import { ASYNC_DISPOSE } from '../../base/disposal.ts'
import { CaissonError } from '../../base/errors.ts'

const MOST_BYTES = 128 * 1024 * 1024

export interface ReadWasmFile {
  readonly bytes: Uint8Array
  /** Why it cannot be used, as the end of a sentence. */
  readonly problem?: string
}

/** @param folder undefined where the plan came from standard input */
export async function readWasmFile(folder: string | undefined, file: string): Promise<ReadWasmFile> {
  const none = (problem: string): ReadWasmFile => ({ bytes: new Uint8Array(), problem })
  if (folder === undefined) return none('a plan from standard input has no folder with files')
  if (!file.endsWith('.wasm')) return none('is no WebAssembly by its name: .wasm')
  const tree = await openDirectoryFileTree({ root: folder })
  try {
    const bytes = await tree.read(file, { offset: 0, length: MOST_BYTES + 1 })
    return bytes.length > MOST_BYTES ? none(`is larger than ${MOST_BYTES} bytes`) : { bytes }
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    return none(`cannot be read: ${error.message.replace(/\.$/, '')}`)
  } finally {
    await tree[ASYNC_DISPOSE]()
  }
}
