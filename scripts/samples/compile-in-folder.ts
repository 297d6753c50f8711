/** Runs a compiler, step by step, that writes its output to a file, and reads it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../run-command.ts'

/**
 * @param stepsFor the arguments of each step, given where the output goes; other files may stand beside it
 * @throws Error with what the compiler said
 */
export async function compileInFolder(
  command: string,
  cwd: string,
  stepsFor: (output: string) => readonly (readonly string[])[],
): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'caisson-sample-'))
  try {
    const path = join(folder, 'out.wasm')
    for (const args of stepsFor(path)) {
      // Its messages are compared with nothing, but people read them: in one language.
      const { code, output } = await runCommand(command, args, { cwd, env: { LC_ALL: 'C.UTF-8' } })
      if (code !== 0) throw new Error(`${command} failed (exit code ${code}):\n${output}`)
    }
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
