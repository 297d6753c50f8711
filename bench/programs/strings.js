// Strings: concatenation, splitting, searching, case, slices and code points of mixed text, and a word count.

function paragraph(words, seed) {
  let state = seed
  let text = ''
  for (let i = 0; i < words; i++) {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    const length = 2 + ((state >> 8) % 8)
    let word = ''
    for (let j = 0; j < length; j++) {
      state = (state * 1103515245 + 12345) & 0x7fffffff
      word += String.fromCharCode(97 + ((state >> 12) % 26))
    }
    text += i % 17 === 16 ? `${word}ß→😀. ` : `${word} `
  }
  return text
}

globalThis.run = () => {
  const text = paragraph(14000, 7)
  const counts = new Map()
  for (const word of text.split(' ')) {
    const key = word.trim().toUpperCase()
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  let vowels = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 97 || code === 101 || code === 105 || code === 111 || code === 117) vowels++
  }
  let points = 0
  for (const _point of text) points++
  let hits = 0
  for (let at = text.indexOf('ab'); at >= 0; at = text.indexOf('ab', at + 1)) hits++
  const reversed = text.split('').reverse().join('')
  const padded = [...counts.keys()].slice(0, 2000).map((word, i) => word.padStart(12, '.') + i.toString(16))
  const joined = padded.join('|').replaceAll('|', ' / ').slice(100, 20000).toLowerCase()
  return [text.length, counts.size, vowels, points, hits, reversed.lastIndexOf('ba'), joined.length].join(' ')
}
