/** The name that is being written at the caret of an expression, or of a template within `{{ }}`; null where none is. */
export function typedName(text: string, caret: number, isTemplate: boolean): { from: number; written: string } | null {
  const before = text.slice(0, caret)
  if (isTemplate && before.lastIndexOf('{{') <= before.lastIndexOf('}}')) return null
  const written = /[A-Za-z_]\w*$|$/.exec(before)![0]
  return { from: caret - written.length, written }
}

/** The text with a name put at the caret, in place of what was begun; in a template's text with `{{ }}` around it. */
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
