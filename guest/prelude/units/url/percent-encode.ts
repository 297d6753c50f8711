/** Percent-encode sets of the URL standard: each matches what is encoded. */
export const C0_CONTROL: RegExp = /[^ -~]/gu
export const FRAGMENT: RegExp = /[^!#-;=?-_a-~]/gu
export const QUERY: RegExp = /[^!$-;=?-~]/gu
export const SPECIAL_QUERY: RegExp = /[^!$-&(-;=?-~]/gu
export const PATH: RegExp = /[^!$-;=@-\]_a-z|~]/gu
export const USERINFO: RegExp = /[^!$-.0-9A-Z_a-z~]/gu
export const FORM: RegExp = /[^*\-.0-9A-Z_a-z]/gu

/** @param text without lone surrogates */
export function percentEncode(text: string, set: RegExp): string {
  return text.replace(set, (character) => {
    const code = character.charCodeAt(0)
    if (code > 0x7f) return encodeURIComponent(character)
    return `%${code < 16 ? '0' : ''}${code.toString(16).toUpperCase()}`
  })
}
