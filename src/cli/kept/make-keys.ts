/**
 * `caisson keys new`: a key pair that journals and receipts are signed with, and that others check them by.
 *
 * Invariants
 * 1. The private key is in one file that only its owner may read, from the moment that there is one, and nowhere else.
 * 2. What exists is never overwritten, and a pair is made whole or not at all.
 */
import { generateKeyPairSync } from 'node:crypto'
import { constants } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parsePublicKey } from '../../../host-bindings/system/ed25519-keys.ts'
import { toHex } from '../../base/bytes.ts'
import { clipText, escapeText } from '../../base/escape-text.ts'
import { CliError } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { jsonText } from '../render/json-text.ts'

/** @returns the exit code. @throws CliError */
export async function makeKeys(given: GivenFlags, { cwd, stdout }: CliIo): Promise<number> {
  const [file = ''] = given.positionals
  const publicFile = `${file}.pub`
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  await writeNew(file, privateKey, 0o600, cwd)
  try {
    await writeNew(publicFile, publicKey, 0o644, cwd)
  } catch (error) {
    await rm(resolve(cwd, file), { force: true })
    throw error
  }
  const digits = toHex(parsePublicKey(publicKey))
  if (given.has('json'))
    stdout.write(`${jsonText({ status: 'done', privateFile: file, publicFile, publicKey: digits })}\n`)
  else {
    stdout.write(`private key  ${escapeText(file)}  (for --sign-key; only you may read it)\n`)
    stdout.write(`public key   ${escapeText(publicFile)}  ${digits}  (for --signer)\n`)
  }
  return EXIT.done
}

async function writeNew(file: string, text: string, mode: number, cwd: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants
  try {
    const handle = await open(resolve(cwd, file), O_WRONLY | O_CREAT | O_EXCL, mode)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message:
        code === 'EEXIST'
          ? `"${clipText(file, 200)}" is there already, and is not overwritten.`
          : `"${clipText(file, 200)}" cannot be written (${code}).`,
      hint: 'Name a file that is not there yet.',
      cause: error,
    })
  }
}
