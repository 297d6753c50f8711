/**
 * The format specifiers of the console (https://console.spec.whatwg.org/#formatter): `%s`, `%d`, `%i`, `%f`, `%o`,
 * `%O`, `%c`, and `%%`, which everybody has.
 *
 * Nothing of the guest's runs for them: where the standard asks an object for its text, it is shown as it is anyway.
 */

/** How a specifier shows a value. */
export type Specifier = 's' | 'd' | 'i' | 'f' | 'o' | 'O' | 'c'

const SPECIFIER = /%[sdifoOc%]/g

/**
 * @param text the first argument of the call, of more than one
 * @param show takes the next argument; undefined where there is none left, and the specifier stays
 */
export function replaceSpecifiers(text: string, show: (specifier: Specifier) => string | undefined): string {
  return text.replace(SPECIFIER, (whole) => {
    const specifier = whole[1] as Specifier | '%'
    return specifier === '%' ? '%' : (show(specifier) ?? whole)
  })
}

/** `%d` and `%i`: `parseInt`; `%f`: `parseFloat`, of what a primitive is as text. Objects are no numbers. */
export function numberOf(specifier: 'd' | 'i' | 'f', text: string | undefined): string {
  if (text === undefined) return 'NaN'
  return String(specifier === 'f' ? Number.parseFloat(text) : Number.parseInt(text, 10))
}
