/** `caisson new component`: a folder to begin a guest in another language with. */
import type { Command } from '../command.ts'

export const newComponentCommand: Command = {
  name: 'new component',
  summary: 'a folder to write a WebAssembly component in, in C, AssemblyScript or JavaScript',
  usage: 'new component FOLDER --lang LANGUAGE [flags]',
  description: [
    'Makes a folder with a world (WIT), a source that builds, and its build: what npm brings is in its package.json, and what else is needed is printed. Nothing is installed. The folder must not be there yet; its name is the name of the component.',
  ],
  positionals: { name: 'FOLDER', min: 1, max: 1 },
  groups: [
    {
      title: 'What is made',
      flags: [
        {
          name: 'lang',
          value: 'c|as|js',
          help: 'The language: c (clang and wasi-libc, about 10 KB), as (AssemblyScript, about 3 KB) or js (JavaScript in QuickJS, about 1 MB).',
        },
      ],
    },
  ],
  examples: [
    ['caisson new component my-tool --lang as', 'needs nothing but npm'],
    ['caisson new component my-tool --lang c', 'needs clang, lld and wasi-libc too'],
  ],
  run: async (given, io) => (await import('../new/make-component-folder.ts')).makeComponentFolder(given, io),
}
