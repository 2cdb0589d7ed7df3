const words: Readonly<Record<string, { title: string; hint: string }>> = {
  input: { title: 'Input', hint: 'Inputs' },
  output: { title: 'Output', hint: 'Outputs' },
  template: { title: 'Template', hint: 'Text with placeholders' },
  expression: { title: 'Expression', hint: 'Computed value' },
  branch: { title: 'Branch', hint: 'If/else' },
  constant: { title: 'Constant', hint: 'A fixed value' },
  'product.chat': { title: 'Chat', hint: 'Calls a text model' },
  'product.image': { title: 'Image', hint: 'Generates an image' },
  'product.audio': { title: 'Speech', hint: 'Generates speech' },
}

/** A kind in words; one that is new here is called as it calls itself. */
export function kindTitle(kind: string): { title: string; hint: string } {
  return words[kind] ?? { title: kind, hint: 'Node kind' }
}
