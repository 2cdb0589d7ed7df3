const words: Readonly<Record<string, { title: string; hint: string }>> = {
  input: { title: 'Input', hint: 'What the flow is given' },
  output: { title: 'Output', hint: 'What the flow answers' },
  template: { title: 'Template', hint: 'Text with values in it' },
  expression: { title: 'Expression', hint: 'A value worked out of others' },
  branch: { title: 'Branch', hint: 'One way or the other' },
  constant: { title: 'Constant', hint: 'A fixed value' },
  'product.chat': { title: 'Chat', hint: 'Asks a text model' },
  'product.image': { title: 'Image', hint: 'Draws an image' },
  'product.audio': { title: 'Speech', hint: 'Speaks a text' },
}

/** A kind in words; one that is new here is called as it calls itself. */
export function kindTitle(kind: string): { title: string; hint: string } {
  return words[kind] ?? { title: kind, hint: 'A kind of node' }
}
