// Regular expressions over DNA: variants of a motif counted, codes expanded. Exercises the regex engine with
// alternation, classes, captures and global replacement. After regex-redux of the Computer Language Benchmarks
// Game, with its generator of random sequences.

let seed = 42

function random(max) {
  seed = (seed * 3877 + 29573) % 139968
  return (max * seed) / 139968
}

function sequence(length) {
  const letters = 'acgtBDHKMNRSVWY'
  let text = ''
  while (text.length < length) {
    let line = ''
    for (let i = 0; i < 60; i++) line += letters[Math.floor(random(i % 9 === 8 ? 15 : 4))]
    text += `${line}\n`
  }
  return text
}

const VARIANTS = [
  /agggtaaa|tttaccct/gi,
  /[cgt]gggtaaa|tttaccc[acg]/gi,
  /a[act]ggtaaa|tttacc[agt]t/gi,
  /ag[act]gtaaa|tttac[agt]ct/gi,
  /agg[act]taaa|ttta[agt]cct/gi,
  /aggg[acg]aaa|ttt[cgt]ccct/gi,
  /agggt[cgt]aa|tt[acg]accct/gi,
  /agggta[cgt]a|t[acg]taccct/gi,
  /agggtaa[cgt]|[acg]ttaccct/gi,
]

const EXPANSIONS = {
  B: '(c|g|t)',
  D: '(a|g|t)',
  H: '(a|c|t)',
  K: '(g|t)',
  M: '(a|c)',
  N: '(a|c|g|t)',
  R: '(a|g)',
  S: '(c|g)',
  V: '(a|c|g)',
  W: '(a|t)',
  Y: '(c|t)',
}

globalThis.run = () => {
  seed = 42
  const raw = sequence(90000)
  const text = raw.replace(/\n/g, '')
  const found = VARIANTS.map((variant) => (text.match(variant) ?? []).length)
  const expanded = text.replace(/[BDHKMNRSVWY]/g, (code) => EXPANSIONS[code])
  const pairs = text.match(/(?:(a|c)t(?=g))|(?<=g)([ca])\b|(\w)\3{3,}/g) ?? []
  return `${found.join(',')} ${raw.length} ${text.length} ${expanded.length} ${pairs.length}`
}
