/** Errors in code that was made of a source, in terms of the source. */
import type { GuestError } from '../machine/turn.ts'
import { originalPlace, type Places } from './original-place.ts'
import { FRAME } from './positions.ts'

/** The places of a file's code; undefined where its author wrote what the engine runs. */
export type PlacesOf = (file: string) => Places | undefined

/** Moves every place of an error, its stack and its causes to where the author wrote it. */
export function originalError(error: GuestError, placesOf: PlacesOf): GuestError {
  const { stack, position, cause, ...rest } = error
  const places = position && placesOf(position.file)
  return {
    ...rest,
    ...(stack !== undefined && {
      stack: stack
        .split('\n')
        .map((line) => originalLine(line, placesOf))
        .join('\n'),
    }),
    ...(position && { position: places ? { ...position, ...originalPlace(places, position) } : position }),
    ...(cause && { cause: originalError(cause, placesOf) }),
  }
}

function originalLine(text: string, placesOf: PlacesOf): string {
  const frame = text.length < 1_000 ? FRAME.exec(text) : null
  if (frame === null) return text
  const [, before = '', file = '', line = '', column = '', after = ''] = frame
  const places = placesOf(file)
  if (places === undefined) return text
  const place = originalPlace(places, { line: Number(line), column: Number(column) })
  return `${before}${file}:${place.line}:${place.column}${after}`
}
