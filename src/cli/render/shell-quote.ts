/** Words as a POSIX shell reads them: what is proposed as a command line can be copied. */

export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
