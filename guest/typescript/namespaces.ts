/** Whether a namespace declares only types, so that nothing is lost when it is erased. */
import { ContextualKeyword as word } from 'sucrase/dist/esm/parser/tokenizer/keywords.js'
import { TokenType as tt } from 'sucrase/dist/esm/parser/tokenizer/types.js'
import type { Program } from './program.ts'

/** Token of `namespace`, `module` or `global` of a statement that declares one, else undefined. */
export function namespaceAt(program: Program, start: number): number | undefined {
  const at = program.is(start, tt._export) ? start + 1 : start
  const isWord = [word._namespace, word._module, word._global].some((keyword) => program.says(at, keyword))
  return isWord ? at : undefined
}

/** @param keyword token of `namespace`; what it declares is a type to the parser in any case */
export function declaresOnlyTypes(program: Program, keyword: number, end: number): boolean {
  let open = keyword
  while (open < end && !program.is(open, tt.braceL)) open += 1
  let at = open + 1
  while (at < end - 1) {
    const statementEnd = program.tokens[at]?.statementEnd
    if (statementEnd === undefined || !isOnlyType(program, at, statementEnd)) return false
    at = statementEnd
  }
  return true
}

function isOnlyType(program: Program, start: number, end: number): boolean {
  if (program.is(start, tt.semi)) return true
  const at = program.is(start, tt._export) ? start + 1 : start
  if (program.is(at, tt._declare)) return true
  if (program.says(at, word._interface) || program.says(at, word._type)) return true
  const nested = namespaceAt(program, start)
  return nested !== undefined && declaresOnlyTypes(program, nested, end)
}
