import { readFile } from 'node:fs/promises'

export interface DocBlock {
  /** The headline above it. */
  title: string
  /** Of its first fence; from 1. */
  line: number
  /** Empty where none is named. */
  language: string
  /** What is behind the language; not shown to readers. */
  note: string
  text: string
}

/** The blocks of code in a page of the docs. */
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
