/** Runs a compiler that writes its output to a file, and reads it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../run-command.ts'

/**
 * @param argsFor the arguments, given where the output goes
 * @throws Error with what the compiler said
 */
export async function compileInFolder(
  command: string,
  cwd: string,
  argsFor: (output: string) => readonly string[],
): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'caisson-sample-'))
  try {
    const path = join(folder, 'out.wasm')
    // Its messages are compared with nothing, but people read them: in one language.
    const { code, output } = await runCommand(command, argsFor(path), { cwd, env: { LC_ALL: 'C.UTF-8' } })
    if (code !== 0) throw new Error(`${command} failed (exit code ${code}):\n${output}`)
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
