// A tokenizer, a precedence-climbing parser and a tree-walking interpreter for a small language.
const SOURCE = `
let n = 24; let a = 0; let b = 1; let i = 0;
while (i < n) { let t = a + b; a = b; b = t; i = i + 1; }
let sum = 0; let k = 0;
while (k < 300) { if (k % 3 == 0) { sum = sum + k * 2; } else { sum = sum - k / 2; } k = k + 1; }
out = a * 1000 + sum;
`
const PRECEDENCE = { '==': 1, '<': 2, '+': 3, '-': 3, '*': 4, '/': 4, '%': 4 }

function tokenize(text) {
  const tokens = []
  const pattern = /\s*(?:(\d+)|([A-Za-z_]\w*)|(==|[-+*/%<=(){};]))/y
  while (pattern.lastIndex < text.trimEnd().length) {
    const match = pattern.exec(text)
    if (match === null) throw new SyntaxError(`at ${pattern.lastIndex}`)
    const [, number, name, sign] = match
    tokens.push(number !== undefined ? { type: 'number', value: +number } : { type: name ?? sign, name })
  }
  tokens.push({ type: 'end' })
  return tokens
}

class Parser {
  constructor(tokens) {
    this.tokens = tokens
    this.at = 0
  }
  get next() {
    return this.tokens[this.at]
  }
  take(type) {
    const token = this.tokens[this.at++]
    if (type !== undefined && token.type !== type) throw new SyntaxError(`${token.type} instead of ${type}`)
    return token
  }
  block(end) {
    const body = []
    while (this.next.type !== end) body.push(this.statement())
    this.take(end)
    return { kind: 'block', body }
  }
  statement() {
    const { type } = this.next
    if (type === 'while' || type === 'if') {
      this.take()
      this.take('(')
      const test = this.expression(0)
      this.take(')')
      this.take('{')
      const then = this.block('}')
      let otherwise
      if (type === 'if' && this.next.type === 'else') {
        this.take()
        this.take('{')
        otherwise = this.block('}')
      }
      return { kind: type, test, then, otherwise }
    }
    if (type === 'let') this.take()
    const { name } = this.take()
    this.take('=')
    const value = this.expression(0)
    this.take(';')
    return { kind: 'set', name, value }
  }
  expression(least) {
    let left = this.primary()
    for (;;) {
      const power = PRECEDENCE[this.next.type]
      if (power === undefined || power <= least) return left
      const { type } = this.take()
      left = { kind: 'binary', sign: type, left, right: this.expression(power) }
    }
  }
  primary() {
    const token = this.take()
    if (token.type === 'number') return { kind: 'number', value: token.value }
    if (token.type !== '(') return { kind: 'name', name: token.name }
    const inner = this.expression(0)
    this.take(')')
    return inner
  }
}

const evaluators = {
  number: (node) => node.value,
  name: (node, scope) => scope.get(node.name),
  binary(node, scope) {
    const left = evaluate(node.left, scope)
    const right = evaluate(node.right, scope)
    switch (node.sign) {
      case '+':
        return left + right
      case '-':
        return left - right
      case '*':
        return left * right
      case '/':
        return left / right
      case '%':
        return left % right
      case '<':
        return left < right
      default:
        return left === right
    }
  },
  set(node, scope) {
    scope.set(node.name, evaluate(node.value, scope))
  },
  block(node, scope) {
    for (const each of node.body) evaluate(each, scope)
  },
  while(node, scope) {
    while (evaluate(node.test, scope)) evaluate(node.then, scope)
  },
  if(node, scope) {
    if (evaluate(node.test, scope)) evaluate(node.then, scope)
    else if (node.otherwise) evaluate(node.otherwise, scope)
  },
}
function evaluate(node, scope) {
  return evaluators[node.kind](node, scope)
}

globalThis.run = () => {
  let total = 0
  for (let round = 0; round < 30; round++) {
    const scope = new Map()
    evaluate(new Parser(tokenize(SOURCE)).block('end'), scope)
    total += scope.get('out')
  }
  return total
}
