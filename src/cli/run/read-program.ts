/** The program to run: from a file or standard input. */
import { basename, resolve } from 'node:path'
import type { CliIo } from '../cli-io.ts'
import { readText } from './read-text.ts'

export interface ProgramFile {
  readonly source: string
  /**
   * How stacks name it: the last name of its path, so that no path of this machine enters the guest. What it ends with
   * says the language; standard input says nothing, and is looked at.
   */
  readonly fileName: string
  /** Where it stands; undefined for standard input. */
  readonly path: string | undefined
}

const PLAIN_NAME = /^[\w.@-]{1,100}$/
const LANGUAGE = /\.[mc]?[jt]sx?$/

/** @throws CliError as `readText` */
export async function readProgram(file: string, io: CliIo): Promise<ProgramFile> {
  const source = await readText(file, 'program', io)
  if (file === '-') return { source, fileName: 'stdin', path: undefined }
  const name = basename(file)
  const fileName = PLAIN_NAME.test(name) ? name : `program${LANGUAGE.exec(name)?.[0] ?? '.js'}`
  return { source, fileName, path: resolve(io.cwd, file) }
}
