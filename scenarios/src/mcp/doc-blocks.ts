import { readFile } from 'node:fs/promises'

export interface DocBlock {
  /** The headline above it. */
  title: string
  language: string
  text: string
}

/** The blocks of code in a page of the docs. */
export async function readDocBlocks(file: string): Promise<DocBlock[]> {
  const page = await readFile(file, 'utf8')
  let title = ''
  const blocks: DocBlock[] = []
  for (const [, headline, language, text] of page.matchAll(/^#+ (.+)$|^```(\w+)\n([^]*?)^```$/gm))
    if (headline !== undefined) title = headline
    else blocks.push({ title, language: language!, text: text! })
  return blocks
}
