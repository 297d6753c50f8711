/** Media types of headers, as far as bodies ask for them. */

export interface MediaType {
  /** `type/subtype`, in lower case. */
  readonly essence: string
  /** Names in lower case. */
  readonly parameters: readonly (readonly [name: string, value: string])[]
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Undefined for what is none. */
export function parseMediaType(text: string): MediaType | undefined {
  const [essence = '', ...rest] = splitOutsideQuotes(text)
  const [type = '', subtype = '', ...more] = essence.split('/')
  if (!TOKEN.test(type) || !TOKEN.test(subtype) || more.length > 0) return undefined
  const parameters: [string, string][] = []
  for (const part of rest) {
    const at = part.indexOf('=')
    const name = part.slice(0, Math.max(at, 0)).toLowerCase()
    const value = unquoted(part.slice(at + 1))
    if (TOKEN.test(name) && value !== '' && !parameters.some(([one]) => one === name)) {
      parameters.push([name, value])
    }
  }
  return { essence: essence.toLowerCase(), parameters }
}

export function mediaTypeText({ essence, parameters }: MediaType): string {
  const shown = parameters.map(([name, value]) => {
    const safe = TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`
    return `;${name}=${safe}`
  })
  return essence + shown.join('')
}

/** Parts between semicolons, without the space around them. */
function splitOutsideQuotes(text: string): string[] {
  const parts: string[] = []
  let part = ''
  let isQuoted = false
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i] as string
    if (char === '"') isQuoted = !isQuoted
    if (char === ';' && !isQuoted) {
      parts.push(part.trim())
      part = ''
    } else if (isQuoted && char === '\\') {
      part += char + (text[i + 1] ?? '')
      i += 1
    } else part += char
  }
  parts.push(part.trim())
  return parts
}

function unquoted(value: string): string {
  return value.startsWith('"')
    ? value.slice(1, value.endsWith('"') ? -1 : undefined).replace(/\\(.)/g, '$1')
    : value
}
