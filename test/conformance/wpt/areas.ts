/**
 * Which tests of web-platform-tests are run, and which of them are left out and why.
 *
 * Of an area all `*.any.js` are run: they need neither a document nor a worker. A test is left out only for what no
 * guest is meant to have; what is missing and should be there fails.
 */

/** An area of the suite, as it is named on the command line. */
export interface Area {
  readonly name: string
  /** Folders, from the root of the suite. */
  readonly folders: readonly string[]
  /** Share of its tests that must pass, from 0 to 1. */
  readonly floor: number
}

export const AREAS: readonly Area[] = [
  { name: 'url', folders: ['url'], floor: 0.9 },
  { name: 'encoding', folders: ['encoding'], floor: 0.9 },
  {
    name: 'fetch',
    folders: ['fetch/api/body', 'fetch/api/headers', 'fetch/api/request', 'fetch/api/response'],
    floor: 0.9,
  },
  { name: 'streams', folders: ['streams'], floor: 0.9 },
  { name: 'abort', folders: ['dom/abort'], floor: 0.9 },
  { name: 'events', folders: ['dom/events'], floor: 0.9 },
  { name: 'timers', folders: ['html/webappapis/timers'], floor: 0.9 },
]

/** A file of tests, or one of its tests by name. */
interface Subject {
  readonly path: string
  readonly source: string
  /** Undefined where it is about the whole file. */
  readonly test?: string
}

/** What leaves a file or a single test out. */
export interface WptExclusion {
  readonly because: string
  readonly applies: (subject: Subject) => boolean
}

function path(pattern: RegExp, because: string): WptExclusion {
  return { because, applies: (file) => pattern.test(file.path) }
}

function text(pattern: RegExp, because: string): WptExclusion {
  return { because, applies: ({ source }) => pattern.test(source) }
}

/** Single tests, by file and by name. */
function tests(files: RegExp, pattern: RegExp, because: string): WptExclusion {
  return {
    because,
    applies: (file) => files.test(file.path) && file.test !== undefined && pattern.test(file.test),
  }
}

const NO_OTHER_ENCODINGS = 'guests know utf-8, utf-16le and latin1 (windows-1252) alone'
const OTHER_ENCODINGS =
  /windows-(?!1252)\d|windows-949|iso-8859-(?!1\b)|iso-2022|koi8|macintosh|mac-cyrillic|gbk|gb18030|big5|euc-|shift_jis|x-user-defined|replacement|ibm866|utf-16be/i

const NO_GUARDED_HEADERS =
  'no header is forbidden in a guest, which is in no page: what a request may carry is decided where it is sent'

/** In the order in which they are asked; a file or test counts for the first that applies. */
export const WPT_EXCLUSIONS: readonly WptExclusion[] = [
  path(/(^|\/)idlharness[^/]*$/, 'checks the surface of Web IDL against the interfaces of browsers'),
  path(/\.tentative\./, 'tentative: not in the standard yet'),
  path(
    /^encoding\/(legacy-mb|.*(iso-2022-jp|replacement-encodings|textdecoder-mistakes))/,
    NO_OTHER_ENCODINGS,
  ),
  tests(/^encoding\/(?!api-invalid-label)/, OTHER_ENCODINGS, NO_OTHER_ENCODINGS),
  tests(
    /^encoding\//,
    /\(SharedArrayBuffer\)/,
    'makes shared memory by WebAssembly, which guests do not have',
  ),
  path(/^streams\/.*non-transferable-buffers/, 'makes memory by WebAssembly, which guests do not have'),
  tests(
    /^streams\/transform-streams\/(errors|general|reentrant-strategies)/,
    /^(abort should set the close reason .* before cancel during start|(controller\.error|terminate)\(\) should do nothing after readable\.cancel|writer\.abort\(\) inside size)/,
    'older than the standard, in which a transform stream that is cancelled asks its transformer first',
  ),
  path(/^streams\/transferable/, 'streams cannot be transferred: there is nobody to transfer them to'),
  text(/get-host-info|\.py\b|RESOURCES_DIR/, 'needs the server of the suite'),
  text(
    /META:\s*global=(?!.*(default|window|worker\b|shadowrealm|jsshell))/,
    'runs in a shared or service worker',
  ),
  text(
    /\b(SharedWorker|new Worker|MessageChannel|BroadcastChannel|importScripts)\b/,
    'needs workers or channels',
  ),
  path(/^fetch\/api\/headers\/headers-no-cors/, NO_GUARDED_HEADERS),
  tests(
    /^fetch\/api\/request\/request-headers/,
    /(invalid|no-cors) request|is filtering/,
    NO_GUARDED_HEADERS,
  ),
  tests(/^fetch\/.*-consume/, /blob (request|response)'s body as blob|'s body as blob/, 'needs FileReader'),
  path(/request-bad-port/, 'needs a network that is refused for the port alone'),
  text(/\bXMLHttpRequest\b/, 'needs XMLHttpRequest'),
  text(/globalThis\.(add|remove)EventListener/, 'the global object of a guest is no EventTarget'),
  path(/evil-spec-example/, 'setTimeout evaluates no text in a guest'),
]

/** What leaves it out, or undefined where it has to be run. */
export function wptExclusionOf(subject: Subject): WptExclusion | undefined {
  return WPT_EXCLUSIONS.find(({ applies }) => applies(subject))
}
