/**
 * Makes JavaScript of programs and modules that are TypeScript, before a machine is started with them.
 *
 * Invariants
 * 1. A source that is JavaScript reaches the machine as it is, and costs a text search.
 * 2. A source of which nothing can be made ends the program as data, like one that does not parse.
 * 3. Equal sources become equal programs, whether they were read before or not.
 */
import { sha256 } from '../base/digest.ts'
import { exhausted } from '../machine/exhausted.ts'
import { Transpiler } from '../isolate/transpiler.ts'
import { checkNativeStack } from '../isolate/native-stack.ts'
import { parsesAsJavaScript } from '../isolate/parse-check.ts'
import { TYPESCRIPT_MANIFEST } from '../isolate/typescript-manifest.ts'
