/**
 * What the program is granted, as `caisson types --dts --capabilities-only` prints the capabilities of a host.
 * A test compares this file with what the host of the example has.
 */

declare const clock: {
  /** Waits: `await clock.sleep({ ms: 500 })` goes on half a second later. At most 5000 ms a call. Reads. */
  readonly sleep: (input: { /** Milliseconds to wait. */ ms: number }) => Promise<null>
}

declare const net: {
  /** HTTP request: `const { status, ok, headers, body } = await net.fetch({ url })`. The body is text, or a Uint8Array with `as: "bytes"`; header names are in lower case. Statuses such as 404 or 429 are answers, not errors. Allowed: http://127.0.0.1. Methods: GET, HEAD. Reads. */
  readonly fetch: (input: { /** Absolute http(s) URL. */ url: string; /** Default GET. */ method?: "GET" | "HEAD"; headers?: { [key: string]: string }; body?: string | Uint8Array; /** How to give the body. Default text. For stream see net.readBody. */ as?: "text" | "bytes" | "stream"; /** Default follow. */ redirect?: "follow" | "manual" | "error" }) => Promise<{ /** Of the last hop. */ url: string; status: number; statusText: string; /** Whether the status is 200 to 299. */ ok: boolean; redirected: boolean; headers: { [key: string]: string }; body: string | Uint8Array; /** Where it is there, body is empty, and net.readBody gives it. */ stream?: string }>
}
