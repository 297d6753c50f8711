/** `--sign-key`: a private key that what is written of runs of plans is signed with. It is never shown, nor any part of it. */
import { openSigner } from '../../../host-bindings/system/signer.node.ts'
import { CaissonError } from '../../base/errors.ts'
import type { Signer } from '../../ports/signer.ts'
import type { Flag } from '../command.ts'
import { readSecretFile, refusedSecret } from './secret-file.ts'

export const SIGN_KEY: Flag = {
  name: 'sign-key',
  value: 'FILE',
  help: 'A private key (Ed25519, PEM; caisson keys new makes one) that what is written of the run is signed with: give it to every command that writes, as what is written without it is vouched for by nobody. Only you may be able to read the file (chmod 600).',
}

/** @throws CliError usage where it cannot be read, refused input where it is no key or others may read it */
export async function readSignKey(file: string | undefined, cwd: string): Promise<Signer | undefined> {
  if (file === undefined) return undefined
  const pem = await readSecretFile(SIGN_KEY.name, file, cwd)
  try {
    return await openSigner(pem)
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    const hint = 'caisson keys new FILE makes one, and the public key beside it.'
    throw refusedSecret(SIGN_KEY.name, file, 'It is no private key of Ed25519 in PEM.', hint)
  }
}
