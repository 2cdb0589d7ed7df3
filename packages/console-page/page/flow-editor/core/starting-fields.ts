const starting: Readonly<Record<string, Record<string, unknown>>> = {
  template: { template: 'Write about {{ text }}.' },
  expression: { expression: 'size(text)' },
  branch: { condition: 'size(text) > 400' },
  constant: { value: '' },
}

/** Initial fields of a node of a kind, so that it has ports from the start. */
export function startingFields(kind: string): Readonly<Record<string, unknown>> {
  return starting[kind] ?? {}
}
