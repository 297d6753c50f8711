/** Help that teaches: what a command is for, by example, with units, defaults and exit codes. */
import type { Command, Flag } from '../command.ts'
import { EXIT_MEANINGS } from '../exit-code.ts'
import { SHARED_FLAGS } from '../parse-flags.ts'
import type { Style } from './style.ts'
import { hangText, wrapText } from './wrap-text.ts'

const INDENT = '  '
/** Below this, what a flag does stands under it rather than beside it. */
const BESIDE_FROM = 76
const WIDEST = 100

/** @param columns of the terminal; text is never wider than 100 */
export function commandHelp(command: Command, columns: number, style: Style): string {
  const width = widthOf(columns)
  const flags = [...command.groups.flatMap((group) => group.flags), ...SHARED_FLAGS]
  const left = Math.max(...flags.map((flag) => flagLabel(flag).length)) + 4
  const groups = [...command.groups, { title: 'Everywhere', flags: SHARED_FLAGS }]
  return sections([
    [...hangText('caisson ', command.usage, width)],
    command.description.flatMap((paragraph, index) => [
      ...(index > 0 ? [''] : []),
      ...wrapText(paragraph, width),
    ]),
    [style.bold('Examples'), ...exampleLines(command, width, style)],
    ...groups.map((group) => [
      style.bold(group.title),
      ...group.flags.flatMap((flag) => flagLines(flag, left, width, style)),
    ]),
    exitCodeLines(width, style),
  ])
}

/** What commands are about, in the order of reading: thirty in one list teach nobody where to begin. */
const SECTIONS: readonly (readonly [title: string, names: RegExp])[] = [
  ['Commands for programs', /^(?:run|types)$/],
  ['Commands for plans', /^plan /],
  ['Commands for what is kept of both', /^(?:resume|runs|show|collect)$/],
  ['Commands for runs of plans', /^(?:cancel|verify|receipts|fork|export|import|erase|compact|keys new)$/],
  ['Commands for WebAssembly components', /^(?:build|new component)$/],
]

/** Every command once; what no section names is about the installation itself. */
function inSections(commands: readonly Command[]): readonly (readonly [string, readonly Command[]])[] {
  const sorted = SECTIONS.map(
    ([title, names]) => [title, commands.filter(({ name }) => names.test(name))] as const,
  )
  const others = commands.filter(({ name }) => !SECTIONS.some(([, names]) => names.test(name)))
  return [...sorted, ['Commands for this installation', others] as const].filter(
    ([, members]) => members.length > 0,
  )
}

/** What `caisson` alone shows. */
export function overviewHelp(commands: readonly Command[], columns: number, style: Style): string {
  const width = widthOf(columns)
  const left = Math.max(...commands.map(({ name }) => name.length)) + 4
  return sections([
    wrapText(
      'caisson runs JavaScript and TypeScript that you do not trust: in a WebAssembly sandbox, under exact limits, with no access to anything that you did not grant.',
      width,
    ),
    [
      style.bold('Start here'),
      `${INDENT}echo 'return 6 * 7' > p.js`,
      `${INDENT}caisson run p.js`,
      `${INDENT}caisson run --help`,
      `${INDENT}caisson plan --help`,
    ],
    ...inSections(commands).map(([title, members]) => [
      style.bold(title),
      ...members.flatMap(({ name, summary }) => hangText(INDENT + name.padEnd(left - 2), summary, width)),
    ]),
    [
      style.bold('Flags'),
      ...hangText(`${INDENT}--help     `, 'after a command: its flags, with examples', width),
      ...hangText(`${INDENT}--version  `, 'the version of this package', width),
    ],
    exitCodeLines(width, style),
  ])
}

function sections(parts: readonly (readonly string[])[]): string {
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function widthOf(columns: number): number {
  return Math.max(30, Math.min(columns - 1, WIDEST))
}

function flagLabel({ name, value, repeatable }: Flag): string {
  return `--${name}${value === undefined ? '' : ` ${value}`}${repeatable === true ? ' ...' : ''}`
}

function flagLines(flag: Flag, left: number, width: number, style: Style): readonly string[] {
  const label = flagLabel(flag)
  if (width < BESIDE_FROM) {
    return [style.cyan(INDENT + label), ...hangText('      ', flag.help, width)]
  }
  const first = INDENT + label.padEnd(left - INDENT.length)
  return hangText(first, flag.help, width).map((line, index) =>
    index === 0 ? style.cyan(line.slice(0, left)) + line.slice(left) : line,
  )
}

function exampleLines({ examples }: Command, width: number, style: Style): readonly string[] {
  return examples.flatMap(([line, meaning]) => [
    ...wrapText(meaning, width - 4).map((part) => style.dim(`${INDENT}# ${part}`)),
    `${INDENT}${line}`,
  ])
}

function exitCodeLines(width: number, style: Style): readonly string[] {
  return [
    style.bold('Exit codes'),
    ...Object.entries(EXIT_MEANINGS).flatMap(([code, meaning]) =>
      hangText(`${INDENT}${code.padStart(3)}  `, meaning, width),
    ),
  ]
}
