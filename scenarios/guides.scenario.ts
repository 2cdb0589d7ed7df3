import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { controlClient } from '@gateway/simulated-provider/control'
import { expect } from 'vitest'
import { openGuideProject } from './src/guides/guide-project.ts'
import { guideTest as test } from './src/guides/guide-test.ts'
import { missingForGuides } from './src/guides/is-there.ts'
import { runGuide } from './src/guides/run-guide.ts'

// Follows the guides of docs/ as written, on the stack that `npm start` starts.

const workspace = path.resolve(import.meta.dirname, '..')
const guides = ['first-call', 'first-flow', 'costs', 'moving-from']

test.for(guides)('every block of docs/%s.md works as written', async (name, { stack, open, skip }) => {
  const missing = await missingForGuides()
  if (missing !== null) skip(`${missing} is not installed`)
  const page = await readFile(path.join(workspace, 'docs', `${name}.md`), 'utf8')
  // Keeps the execution running until the guide stops it.
  await controlClient(new URL(stack.providerControl).origin).setFaults([
    { prompt: 'Write a note about a storm.', latencyMs: 60_000 },
  ])
  await runGuide(page, open(await openGuideProject(stack, page)))
})

test('a guide fails when its output, commands, variables or files differ from reality', async ({ open }) => {
  const { shell, folder } = open()
  const follow = (...lines: string[]) => runGuide(lines.join('\n'), { shell, folder, variables: new Set(['NAME']) })
  const block = (kind: string, ...lines: string[]) => ['```' + kind, ...lines, '```', ''].join('\n')

  await follow(
    block('sh variables', 'export NAME=value # yours'),
    block('text notes.txt', 'one'),
    block('sh', 'word=$(cat notes.txt)', 'echo "$word and two" >&2'),
    block('text', 'one and …'),
    block('sh', String.raw`printf '{"id":"key_1","word":"%s","more":[1,null]}\n' "$word"`),
    block('json', '{ "word": "one", "id": "key_…", "more": [1, …] }'),
    block('sh', String.raw`printf '{"id":1,"word":"%s"}\n{"id":2}\n' "$word"`),
    block('ndjson', '{ "word": "one", "…": "…" }', '{ "id": … }'),
    block('python not executed: its package is unavailable here', 'import nothing'),
  )

  await expect(follow(block('sh', 'echo one'), block('text', 'two'))).rejects.toThrow('line 5')
  await expect(follow(block('sh', 'echo [1,2]'), block('json', '[1]'))).rejects.toThrow('line 5')
  await expect(follow('# A title', block('sh', 'false', 'true'))).rejects.toThrow('line 2, A title: A command exited')
  await expect(follow(block('text', 'one'))).rejects.toThrow('No commands precede')
  await expect(follow(block('sh variables', 'export OTHER=value'))).rejects.toThrow('Unknown variable')
  await expect(follow(block('js never-run.mjs', '1'))).rejects.toThrow('No command names never-run.mjs')
  for (const kind of ['', 'toml', 'js', 'sh later', 'sh not executed: later'])
    await expect(follow(block(kind, 'x'))).rejects.toThrow('Unsupported block')
  await expect(follow(block('json not executed: it is for another program', '{'))).rejects.toThrow('JSON')
})
