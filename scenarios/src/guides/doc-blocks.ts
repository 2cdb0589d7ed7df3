import { readFile } from 'node:fs/promises'

export interface DocBlock {
  /** Heading above the block. */
  title: string
  /** Line number of the opening fence, from 1. */
  line: number
  /** Empty if the fence names none. */
  language: string
  /** Text after the language, hidden from readers. */
  note: string
  text: string
}

/** Code blocks of a documentation page. */
export async function readDocBlocks(file: string): Promise<DocBlock[]> {
  return docBlocksOf(await readFile(file, 'utf8'))
}

export function docBlocksOf(page: string): DocBlock[] {
  let title = ''
  const blocks: DocBlock[] = []
  for (const { 1: headline, 2: language, 3: note, 4: text, index } of page.matchAll(
    /^#+ (.+)$|^```(\w*)(.*)\n([^]*?)^```$/gm,
  ))
    if (headline !== undefined) title = headline
    else {
      const line = page.slice(0, index).split('\n').length
      blocks.push({ title, line, language: language!, note: note!.trim(), text: text! })
    }
  return blocks
}
