import type { KeyboardEvent } from 'react'

/**
 * Whether a pressed key belongs to an input method, such as the Enter that confirms a word. Safari ends the composition
 * before that key, which then has code 229.
 */
export function isComposing({ nativeEvent }: KeyboardEvent): boolean {
  return nativeEvent.isComposing || nativeEvent.keyCode === 229
}
