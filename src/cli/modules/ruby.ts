/**
 * CRuby as a WASI module. Its builds for npm are reactors: the interpreter is initialised by a call, and evaluates by
 * another one. What `ruby FILE` does beside (arguments, `at_exit`, exit codes, messages of exceptions) is done by a few
 * lines of Ruby around the script.
 */
import { PROGRAM_FOLDER, type ScriptLanguage } from './script-language.ts'

const INITIALISE = 'ruby-init: func(args: list<string>) -> ()'
const EVALUATE = 'rb-eval-string-protect: func(str: string) -> tuple<handle<rb-abi-value>, s32>'
/** Texts of this interface end with one, as they do in C. */
const NUL = '\0'

/** Without RubyGems, which would take most of the time of a start, and has nothing to load here. */
const FLAGS = ['ruby', '-EUTF-8', '--disable=gems', '-e_=0']

const AROUND = `
lambda do
  code = 0
  kept = []
  step = lambda do |&work|
    work.call
  rescue SystemExit => e
    code = e.status
  rescue Exception => e
    code = 1
    e.set_backtrace(e.backtrace.reject { |at| at.match?(/\\A(eval:|[^:]+:in 'Kernel.eval')/) })
    $stderr.write(e.full_message(highlight: false))
  end
  at_exit = lambda { |&work| kept.push(work).last }
  Kernel.define_method(:at_exit, &at_exit)
  Kernel.send(:private, :at_exit)
  Kernel.define_singleton_method(:at_exit, &at_exit)
  $stdout.sync = $stderr.sync = true
  step.call { load($0) }
  step.call(&kept.pop) until kept.empty?
  exit!(code)
end.call
`

export const RUBY: ScriptLanguage = {
  extension: '.rb',
  words: 'Ruby',
  package: '@ruby/3.4-wasm-wasi',
  version: '2.10.1',
  wasm: 'dist/ruby+stdlib.wasm',
  limits: { fuel: 20_000_000_000, memoryBytes: 256 * 1024 * 1024 },
  optionsOf: (name, args) => ({
    name: 'ruby',
    startUp: [{ name: INITIALISE, args: [FLAGS.map((flag) => flag + NUL)] }],
    entry: [
      {
        name: EVALUATE,
        args: [
          `$0 = ${literal(`${PROGRAM_FOLDER}/${name}`)}; ARGV.replace([${args.map(literal).join(', ')}])${AROUND}${NUL}`,
        ],
      },
      // Reached only where not even a failure could be told, as without memory: that is no success.
      { name: EVALUATE, args: [`exit!(1)${NUL}`] },
    ],
    // What a script reaches JavaScript through: nobody grants it, and few ask for it.
    missing: 'trap',
  }),
}

/** A text as Ruby writes it, in which nothing is evaluated. */
function literal(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`
}
