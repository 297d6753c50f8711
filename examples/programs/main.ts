/**
 * Programs of other people as guests: SQLite in C, yosys in C++, pandoc in Haskell. `npm run example:programs`; see
 * README.md.
 */
import { openRuntime, type Runtime } from '../../src/entry/node.ts'
import { convert, installPrograms, type Made, synthesize } from './others.ts'
import { query, readSqlite } from './sqlite.ts'

export const VERILOG = `
module counter(input clock, input reset, output reg [7:0] count);
  always @(posedge clock) count <= reset ? 8'd0 : count + 8'd1;
endmodule
`

export const MARKDOWN = '# Stock\n\n| thing | price |\n|-------|------:|\n| *nut* | 0.25  |\n'

const SCHEMA = `
  CREATE TABLE stock(thing TEXT PRIMARY KEY, price REAL);
  INSERT INTO stock VALUES ('nut', 0.25), ('bolt', 1.5), ('hammer', 19);
`
const QUESTION = 'SELECT count(*), avg(price) FROM stock; SELECT thing FROM stock ORDER BY price DESC LIMIT 1'

async function askSqlite(runtime: Runtime): Promise<string> {
  const sqlite = await readSqlite()
  const made = await query(runtime, sqlite, SCHEMA)
  const { rows, fuel } = await query(runtime, sqlite, QUESTION, made.database)
  const lines = rows.map((row) => JSON.stringify(row))
  return `${lines.join('\n')}\n(a database of ${made.database.length} bytes; ${fuel.toLocaleString('en')} units of fuel)`
}

function told({ text, fuel }: Made): string {
  return `${text.trim()}\n(${fuel.toLocaleString('en')} units of fuel)`
}

async function main(): Promise<void> {
  const isTerminal = process.stdout.isTTY === true
  const title = (text: string): void => console.log(isTerminal ? `\u001b[1m${text}\u001b[0m` : text)
  // On a terminal; a pipe gets what the programs print.
  const onProgress = (done: number): void => {
    if (isTerminal)
      process.stderr.write(
        `\r\u001b[Kprepares it: ${Math.round(done * 100)} %${done >= 1 ? '\r\u001b[K' : ''}`,
      )
  }
  installPrograms()
  const runtime = await openRuntime()
  try {
    title('SQLite: a database in a file')
    console.log(await askSqlite(runtime))
    title('\nyosys: a counter of eight bits as gates')
    console.log(told(await synthesize(runtime, VERILOG, onProgress)))
    title('\npandoc: Markdown to HTML')
    console.log(told(await convert(runtime, MARKDOWN, onProgress)))
  } finally {
    await runtime.close()
  }
}

if (process.argv[1] === import.meta.filename) await main()
