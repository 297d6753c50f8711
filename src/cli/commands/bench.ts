/** `caisson bench`: the benches are part of the repository, not of the package; there, this runs them. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '../cli-error.ts'
import type { Command, GivenFlags } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { findPackageRoot } from '../package-root.ts'

export const benchCommand: Command = {
  name: 'bench',
  summary: 'measure this build against its peers (inside the repository)',
  usage: 'bench [SUITE ...] [flags]',
  description: [
    'Measures suites side by side with other sandboxes, interleaved, with medians and spread. The benches and their peers are not part of the installed package: run this in a clone of the repository.',
  ],
  positionals: { name: 'SUITE', min: 0, max: Number.POSITIVE_INFINITY },
  groups: [
    {
      title: 'What is measured',
      flags: [
        { name: 'only', value: 'A,B', help: 'These subjects alone.' },
        { name: 'quick', help: 'Fewer and shorter rounds: a smoke test, no figures to publish.' },
      ],
    },
  ],
  examples: [
    ['caisson bench --quick', 'see that everything runs'],
    ['caisson bench throughput --json', 'one suite, for machines'],
  ],
  run: runBench,
}

async function runBench(given: GivenFlags): Promise<number> {
  const { folder } = findPackageRoot()
  if (!existsSync(join(folder, 'bench/main.ts'))) {
    throw new CliError({
      exit: EXIT.usage,
      code: 'unsupported',
      message: 'The benches are not part of the installed package.',
      hint: 'Clone the repository, then: npm ci && npm run bench',
    })
  }
  const only = given.value('only')
  const args = [
    ...given.positionals,
    ...['json', 'quick'].filter((name) => given.has(name)).map((name) => `--${name}`),
    ...(only === undefined ? [] : ['--only', only]),
  ]
  const code = await runScript(folder, args)
  return code === 0 || code === EXIT.usage ? code : EXIT.internal
}

/** Runs `npm run bench` as package.json defines it, without npm in between. */
function runScript(folder: string, args: readonly string[]): Promise<number> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>
  }
  const [, ...script] = (manifest.scripts.bench ?? 'node bench/main.ts').split(' ')
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...script, ...args], { cwd: folder, stdio: 'inherit' })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? EXIT.internal))
  })
}
