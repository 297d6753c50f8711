/** `caisson keys new`: keys that runs of plans are signed with. */
import type { Command } from '../command.ts'

export const keysNewCommand: Command = {
  name: 'keys new',
  summary: 'make a key pair that runs of plans are signed with, and checked by',
  usage: 'keys new FILE [flags]',
  description: [
    'Writes a private key (Ed25519, PEM) into FILE, which only you may read, and its public key into FILE.pub. Commands that write something of a run of a plan sign it with --sign-key FILE; whoever has FILE.pub sees with caisson verify --signer FILE.pub that nobody else wrote any of it. The private key is not shown, and leaves FILE in no way.',
  ],
  positionals: { name: 'FILE', min: 1, max: 1 },
  groups: [],
  examples: [
    ['caisson keys new host.key', 'host.key and host.key.pub'],
    ['caisson plan start report --store runs --sign-key host.key', 'signed as it goes'],
    ['caisson verify report --store runs --signer host.key.pub', 'signed by this host, all of it?'],
  ],
  run: async (given, io) => (await import('../kept/make-keys.ts')).makeKeys(given, io),
}
