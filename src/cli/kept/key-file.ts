/**
 * `--key-file`: the keys that checkpoints and logs are authenticated and encrypted with.
 *
 *     { "mac": { "id": "m1", "key": "64 hex digits", "older": [{ "id": "m0", "key": "..." }] },
 *       "encryption": { "id": "e1", "key": "64 hex digits" } }
 *
 * Invariants
 * 1. No message, log or document carries anything of the file but the ids of its keys.
 * 2. A file that others may read is refused: keys that are not secret protect nothing.
 */
import { fromHex } from '../../base/bytes.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import {
  type CheckpointKey,
  type CheckpointKeys,
  checkKeys,
  type KeyRing,
} from '../../snapshot/container/checkpoint-keys.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'
import { readSecretFile } from './secret-file.ts'

const HEX_KEY = /^[0-9a-f]{64}$/i

/**
 * The keys in `file`; none without a file.
 * @throws CliError usage where it cannot be read, refused input where it is no key file or others may read it
 */
export async function readKeyFile(file: string | undefined, cwd: string): Promise<CheckpointKeys> {
  if (file === undefined) return {}
  const shown = clipText(file, 200)
  const keys = parseKeys(await readSecretFile('key-file', file, cwd), shown)
  try {
    checkKeys(keys)
  } catch (error) {
    if (CaissonError.is(error)) throw refused(shown, error.message)
    throw error
  }
  return keys
}

function parseKeys(text: string, shown: string): CheckpointKeys {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // The cause would quote the text.
    throw refused(shown, 'It is not JSON.')
  }
  const { mac, encryption, ...others } = objectOf(json, shown)
  if (Object.keys(others).length > 0) {
    throw refused(shown, 'It holds something else than "mac" and "encryption".')
  }
  if (mac === undefined && encryption === undefined) {
    throw refused(shown, 'It holds neither "mac" nor "encryption".')
  }
  return {
    ...(mac !== undefined && { mac: ringOf(mac, 'mac', shown) }),
    ...(encryption !== undefined && { encryption: ringOf(encryption, 'encryption', shown) }),
  }
}

function ringOf(json: unknown, name: string, shown: string): KeyRing {
  const { older = [], ...current } = objectOf(json, shown)
  if (!Array.isArray(older)) throw refused(shown, `"older" of "${name}" is no list.`)
  return { current: keyOf(current, name, shown), older: older.map((one) => keyOf(one, name, shown)) }
}

function keyOf(json: unknown, name: string, shown: string): CheckpointKey {
  const { id, key, ...others } = objectOf(json, shown)
  if (typeof id !== 'string' || typeof key !== 'string' || Object.keys(others).length > 0) {
    throw refused(shown, `A key of "${name}" has "id" and "key", and nothing else.`)
  }
  if (!HEX_KEY.test(key)) throw refused(shown, `A key of "${name}" is not 64 hexadecimal digits.`)
  return { id, bytes: fromHex(key.toLowerCase()) }
}

function objectOf(json: unknown, shown: string): Readonly<Record<string, unknown>> {
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) {
    return json as Record<string, unknown>
  }
  throw refused(shown, 'It is not built as a key file is.')
}

function refused(shown: string, problem: string): CliError {
  return new CliError({
    exit: EXIT.refusedInput,
    code: 'invalid_argument',
    message: `--key-file: "${shown}" is not taken. ${problem}`,
    hint: 'A key file is {"mac": {"id": "m1", "key": "64 hex digits"}, "encryption": {"id": "e1", "key": "64 hex digits"}}; see caisson run --help.',
  })
}
