/** The guest programs of the throughput suite: plain scripts that set `globalThis.run`, with known results. */
import { readFileSync } from 'node:fs'

export interface Program {
  readonly name: string
  /** Wrapped in a function, as agents' programs are, so that its names are locals and not globals. */
  readonly source: string
  /** @throws Error when `run()` gave something else */
  readonly check: (result: unknown) => void
}

/** What `run()` returns, whatever the engine. */
const EXPECTED: Readonly<Record<string, string | number>> = {
  'binary-trees': '32767 63488 65408 65528 16383',
  deltablue: 2858408,
  fannkuch: '1616 22',
  json: '88856 7203 160068',
  mandelbrot: '5575 633962',
  nbody: '-0.169075164 -0.169057007',
  pidigits: '39141992726042699227',
  'regex-dna': '0,0,5,1,4,3,4,1,5 90036 88560 121786 2833',
  richards: '2322 queued, 928 held',
  sha256: 'bf110f3d99e81942138b28a5c253c04ed4209ba6692612fc021c83e48cb5090b',
  sort: '36 50409 99976 55339 9501 997',
  'spectral-norm': '1.274219991',
  strings: '88807 2940 12950 87984 51 88353 19900',
}

/** As above, for programs that took no part in placing the engine's charges. */
const UNSEEN: Readonly<Record<string, string | number>> = {
  interpreter: 1391481000,
  'lru-cache': '15267 15267',
  routes: '66 275 1000',
  tables:
    '5539418 centre    10495    125253.5|west      10448    123772.8|east      10236    120391.3|south     10140    120135.5|north     10109    118109.0',
}

function readProgram(folder: string, name: string, expected: string | number): Program {
  const script = readFileSync(new URL(`../${folder}/${name}.js`, import.meta.url), 'utf8')
  return {
    name,
    source: `(() => {\n${script}\n})()`,
    check: (result) => {
      if (result !== expected) throw new Error(`${name} gave ${String(result)} instead of ${expected}`)
    },
  }
}

/** The throughput suite. `scripts/measure-frequencies.ts` placed the charges of the metered engines by these. */
export const PROGRAMS: readonly Program[] = Object.entries(EXPECTED).map(([name, expected]) =>
  readProgram('programs', name, expected),
)

/** Programs in the style of today, which the metered engines were not tuned for. */
export const UNSEEN_PROGRAMS: readonly Program[] = Object.entries(UNSEEN).map(([name, expected]) =>
  readProgram('programs-unseen', name, expected),
)
