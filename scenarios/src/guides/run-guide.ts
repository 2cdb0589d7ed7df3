import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { docBlocksOf, type DocBlock } from './doc-blocks.ts'
import { expectShown } from './expect-shown.ts'
import type { GuideShell } from './guide-shell.ts'
import { partOfGuide } from './part-of-guide.ts'

const execute = promisify(execFile)

interface Deps {
  shell: GuideShell
  /** Working directory of the commands. */
  folder: string
  /** Names of the variables that the shell sets instead of the reader. */
  variables: ReadonlySet<string>
}

/**
 * Follows a guide block by block, as a reader would.
 * @throws Error with the line of the first block that is unsupported or doesn't behave as the guide says
 */
export async function runGuide(page: string, deps: Deps): Promise<void> {
  const blocks = docBlocksOf(page)
  let printed: string | null = null
  for (const [at, block] of blocks.entries())
    try {
      printed = await runBlock(block, { ...deps, printed, later: blocks.slice(at + 1) })
    } catch (error) {
      throw new Error(`line ${block.line}, ${block.title}: ${(error as Error).message}`, { cause: error })
    }
}

interface Within extends Deps {
  /** Output of the previous block, or null if it printed none. */
  printed: string | null
  later: DocBlock[]
}

async function runBlock(block: DocBlock, { shell, folder, variables, printed, later }: Within): Promise<string | null> {
  const part = partOfGuide(block)
  switch (part.kind) {
    case 'commands':
      return shell.run(block.text)
    case 'variables':
      for (const line of block.text.trim().split('\n')) {
        const name = /^export (\w+)=\S+(\s+#.*)?$/.exec(line)?.[1]
        if (name === undefined || !variables.has(name)) throw new Error(`Unknown variable in "${line}".`)
      }
      return null
    case 'file':
      if (!later.some(({ language, text }) => language === 'sh' && text.includes(part.name)))
        throw new Error(`No command names ${part.name}.`)
      await writeFile(path.join(folder, part.name), block.text)
      return null
    case 'output':
      if (printed === null) throw new Error('No commands precede this output.')
      expectShown(part.form, block.text, printed)
      return null
    case 'unexecuted':
      await checkForm(block)
      return null
    default:
      return part satisfies never
  }
}

/** Checks the syntax of a block that isn't run. */
async function checkForm({ language, text }: DocBlock): Promise<void> {
  if (language === 'json') JSON.parse(text)
  if (language === 'sh') await execute('bash', ['-nc', text])
  if (language === 'python') await pythonReads(text)
}

async function pythonReads(text: string): Promise<void> {
  const compile = 'import sys; compile(sys.argv[1], "block", "exec")'
  await execute('python3', ['-c', compile, text]).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error // skipped on a machine without Python
  })
}
