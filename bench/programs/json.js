// JSON: parse and print a document of nested records with unicode and escapes, with a reviver and indentation.
// Exercises the engine's native parser and printer, and the creation of many small objects.

function catalogue(size) {
  const items = []
  for (let i = 0; i < size; i++) {
    items.push({
      id: i,
      sku: `SKU-${String(i).padStart(6, '0')}`,
      name: `Füllfeder № ${i} "feine Spitze"\t\\ ${i % 7}`,
      price: { amount: ((i * 37) % 9973) / 100, currency: i % 3 ? 'EUR' : 'CHF' },
      tags: ['a', 'bb', 'ccc', `t${i % 50}`],
      dimensions: [i * 0.25, i * 1.5, -i / 3],
      discontinued: i % 11 === 0,
      parent: i % 5 ? i - 1 : null,
    })
  }
  return { version: 3, items }
}

globalThis.run = () => {
  const source = catalogue(400)
  let text = ''
  let revived = 0
  for (let i = 0; i < 24; i++) {
    text = JSON.stringify(source)
    const copy = JSON.parse(text)
    if (copy.items.length !== source.items.length) throw new Error('lost items')
  }
  JSON.parse(text, (_key, value) => {
    revived++
    return value
  })
  return `${text.length} ${revived} ${JSON.stringify(source, null, 2).length}`
}
