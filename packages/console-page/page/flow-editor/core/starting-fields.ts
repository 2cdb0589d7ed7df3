const starting: Readonly<Record<string, Record<string, unknown>>> = {
  template: { template: 'Write about {{ text }}.' },
  expression: { expression: 'size(text)' },
  branch: { condition: 'size(text) > 400' },
  constant: { value: '' },
}

/** What a node of that kind begins with, so that it has ports at once. */
export function startingFields(kind: string): Readonly<Record<string, unknown>> {
  return starting[kind] ?? {}
}
