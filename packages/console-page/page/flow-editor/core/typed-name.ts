/** Name being typed at the caret of an expression, or within `{{ }}` of a template; null if there is none. */
export function typedName(text: string, caret: number, isTemplate: boolean): { from: number; written: string } | null {
  const before = text.slice(0, caret)
  if (isTemplate && before.lastIndexOf('{{') <= before.lastIndexOf('}}')) return null
  const written = /[A-Za-z_]\w*$|$/.exec(before)![0]
  return { from: caret - written.length, written }
}

/** Inserts a name at the caret in place of the typed prefix, wrapped in `{{ }}` in the text of a template. */
export function withName(
  text: string,
  caret: number,
  name: string,
  isTemplate: boolean,
): { text: string; caret: number } {
  const typed = typedName(text, caret, isTemplate)
  const put = typed ? name : `{{ ${name} }}`
  const from = typed?.from ?? caret
  return { text: `${text.slice(0, from)}${put}${text.slice(caret)}`, caret: from + put.length }
}
