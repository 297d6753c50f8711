/**
 * What the program is granted, as `caisson types --dts --capabilities-only` prints the capabilities of a host.
 * A test compares this file with what the host of the example has.
 */

declare const artifacts: {
  /** Hands over a finished file for people to open: `await artifacts.write({ name: "report.html", mediaType: "text/html", data: html })`. Gives its `digest` and the `name` it was stored under. The same data again is the same artifact. Writes. */
  readonly write: (input: { /** A file name with extension. */ name: string; /** For example "text/html". */ mediaType: string; data: string | Uint8Array }) => Promise<{ /** "sha256:" and 64 hexadecimal digits, of the bytes. */ digest: string; /** The file name it was stored under. */ name: string; mediaType: string; bytes: number }>
}

declare const clock: {
  /** Waits: `await clock.sleep({ ms: 500 })` goes on half a second later. At most 5000 ms a call. Reads. */
  readonly sleep: (input: { /** Milliseconds to wait. */ ms: number }) => Promise<null>
}

declare const net: {
  /** HTTP request: `const { status, ok, headers, body } = await net.fetch({ url })`. The body is text, or a Uint8Array with `as: "bytes"`; header names are in lower case. Statuses such as 404 or 429 are answers, not errors. Allowed: http://127.0.0.1. Methods: GET, HEAD. Reads. */
  readonly fetch: (input: { /** Absolute http(s) URL. */ url: string; /** Default GET. */ method?: "GET" | "HEAD"; headers?: { [key: string]: string }; body?: string | Uint8Array; /** How to give the body. Default text. For stream see net.readBody. */ as?: "text" | "bytes" | "stream"; /** Default follow. */ redirect?: "follow" | "manual" | "error" }) => Promise<{ /** Of the last hop. */ url: string; status: number; statusText: string; /** Whether the status is 200 to 299. */ ok: boolean; redirected: boolean; headers: { [key: string]: string }; body: string | Uint8Array; /** Where it is there, body is empty, and net.readBody gives it. */ stream?: string }>
}

declare const sql: {
  /** Reads from PostgreSQL with one SELECT, WITH, VALUES or TABLE statement: `const { rows } = await sql.query({ text: "select name from products where id = $1", params: [7] })`. Gives `{ columns, rows }`, each row an object; numeric comes as a string, timestamps as Date. At most 10000 rows. Table products(sku, name, category, unit, base_price, currency, supplier, stock, updated). Reads. */
  readonly query: (input: { /** One statement, with $1, $2, ... for values. */ text: string; /** The values of $1, $2, ... */ params?: unknown[] }) => Promise<{ columns: string[]; rows: { [key: string]: unknown }[] }>
}
