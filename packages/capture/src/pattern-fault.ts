import { RE2JS } from 're2js'

/** Why a regular expression can't be used to hide text, as the end of a sentence; null: it can. */
export function patternFault(pattern: string): string | null {
  try {
    const compiled = RE2JS.compile(pattern)
    return samples.some((text) => findsNothing(compiled, text))
      ? 'can match an empty text, so it would match everywhere'
      : null
  } catch (error) {
    return `is not a regular expression in RE2 syntax: ${(error as Error).message}`
  }
}

const samples = ['', 'a', ' 1-']

/** Whether it matches an empty part of a text. */
function findsNothing(pattern: RE2JS, text: string): boolean {
  const matcher = pattern.matcher(text)
  while (matcher.find()) if (matcher.start() === matcher.end()) return true
  return false
}
