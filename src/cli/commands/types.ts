/** `caisson types`: what a program can see, as TypeScript declarations, or a component, as WIT. */
import type { Command } from '../command.ts'
import { RIGHTS } from '../run/right-flags.ts'

export const typesCommand: Command = {
  name: 'types',
  summary: 'what a program sees in the sandbox, as types for an editor or a model',
  usage: 'types --dts|--wit [flags]',
  description: [
    'Prints TypeScript declarations of what a program can use beside the language: the standard library of guests, and the capabilities that the flags grant, with the types of their schemas. Put it beside the programs as guest.d.ts, with "lib": ["es2023"] and "types": [] in their tsconfig.json, or into the prompt of a model that writes them.',
    'Or prints the WIT package of the capabilities that the flags grant, for components: include its world granted-capabilities in theirs. What WIT has no words for is refused by its name.',
  ],
  positionals: { name: '', min: 0, max: 0 },
  groups: [
    {
      title: 'What is printed',
      flags: [
        { name: 'dts', help: 'TypeScript declarations (.d.ts).' },
        { name: 'wit', help: 'The WIT package of the granted capabilities.' },
        {
          name: 'capabilities-only',
          help: 'Leaves out the standard library: the granted capabilities and nothing else.',
        },
      ],
    },
    RIGHTS,
  ],
  examples: [
    ['caisson types --dts > guest.d.ts', 'the standard library of guests'],
    ['caisson types --dts --tools ./tools.js > guest.d.ts', 'with your functions'],
    ['caisson types --wit --tools ./tools.js > capabilities.wit', 'your functions, for components'],
    ['caisson types --dts --capabilities-only --allow-read data', 'the functions for files alone'],
  ],
  run: async (given, io) => (await import('../types/print-types.ts')).printTypes(given, io),
}
