/** Interfaces of WASI 0.2 by id without version, and the grant that each is useless without. */
import type { WasiGrant } from '../../../src/ports/wasi-host.ts'

export const PREVIEW2_GRANTS: Readonly<Record<string, WasiGrant | undefined>> = {
  'wasi:cli/environment': undefined,
  'wasi:cli/exit': undefined,
  'wasi:cli/stdin': undefined,
  'wasi:cli/stdout': undefined,
  'wasi:cli/stderr': undefined,
  'wasi:cli/terminal-input': undefined,
  'wasi:cli/terminal-output': undefined,
  'wasi:cli/terminal-stdin': undefined,
  'wasi:cli/terminal-stdout': undefined,
  'wasi:cli/terminal-stderr': undefined,
  'wasi:clocks/monotonic-clock': 'clock',
  'wasi:clocks/wall-clock': 'clock',
  'wasi:filesystem/preopens': undefined,
  'wasi:filesystem/types': undefined,
  'wasi:http/outgoing-handler': 'http',
  'wasi:http/types': undefined,
  'wasi:io/error': undefined,
  'wasi:io/poll': undefined,
  'wasi:io/streams': undefined,
  'wasi:random/insecure': 'random',
  'wasi:random/insecure-seed': 'random',
  'wasi:random/random': 'random',
}
