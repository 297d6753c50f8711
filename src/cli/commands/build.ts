/** `caisson build`: a component as files that are loaded without metering anything again. */
import type { Command } from '../command.ts'

export const buildCommand: Command = {
  name: 'build',
  summary: 'prepares a WebAssembly component for pages with a strict policy and for edge workers',
  usage: 'build COMPONENT.wasm --out DIR [flags]',
  description: [
    'Writes metered core modules and component.json, which says what they are, with a digest of each. Give both to openComponent as { manifest, read }. Nothing is generated that a policy could refuse, and what was changed afterwards is refused.',
  ],
  positionals: { name: 'COMPONENT.wasm', min: 1, max: 1 },
  groups: [
    {
      title: 'What is written',
      flags: [
        { name: 'out', value: 'DIR', help: 'Folder for the files; it is made where it is missing.' },
        { name: 'memory', value: 'SIZE', help: 'Cap of every memory, e.g. 32MiB. Default 64MiB.' },
        {
          name: 'suspend',
          value: 'NAME',
          repeatable: true,
          help: 'A capability that the component waits for, and can be parked at. It makes the files larger.',
        },
      ],
    },
  ],
  examples: [
    ['caisson build tool.wasm --out public/tool', 'files for a page or a worker'],
    ['caisson build tool.wasm --out public/tool --suspend prices.lookup', 'it waits for prices'],
  ],
  run: async (given, io) => (await import('../build/build-files.ts')).buildFiles(given, io),
}
