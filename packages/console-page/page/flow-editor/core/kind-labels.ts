const kindLabels: Readonly<Record<string, { title: string; hint: string }>> = {
  input: { title: 'Input', hint: 'Inputs of the flow' },
  output: { title: 'Output', hint: 'Outputs of the flow' },
  template: { title: 'Template', hint: 'Text with placeholders' },
  expression: { title: 'Expression', hint: 'Computed value' },
  branch: { title: 'Branch', hint: 'If/else' },
  constant: { title: 'Constant', hint: 'A fixed value' },
  'product.chat': { title: 'Chat', hint: 'Calls a text model' },
  'product.image': { title: 'Image', hint: 'Generates an image' },
  'product.audio': { title: 'Speech', hint: 'Generates speech' },
}

/** Label of a node kind. An unknown kind is shown by its identifier. */
export function kindTitle(kind: string): { title: string; hint: string } {
  return kindLabels[kind] ?? { title: kind, hint: 'Node kind' }
}
