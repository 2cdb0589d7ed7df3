import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { registryProgram } from './registry-program.ts'

const run = promisify(execFile)

/** Stands for an npm on a slow disk: a program is there half a second before it can be executed. */
const slowNpm = `#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" = --prefix ] && folder=$2; shift; done
mkdir -p "$folder/node_modules/tool"
echo 'echo works' > "$folder/node_modules/tool/tool"
sleep 0.5
chmod +x "$folder/node_modules/tool/tool"
`

test('a program that several files of tests fetch at once is whole for each of them', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'programs-'))
  const [npm, cache] = [path.join(folder, 'npm'), path.join(folder, 'cache')]
  await writeFile(npm, slowNpm)
  await chmod(npm, 0o755)
  const tool = { title: 'A tool', name: 'tool', version: '1.0.0', program: 'tool' }
  const outputs = await Promise.all(
    [0, 100, 300, 800].map(async (ms) => {
      await new Promise((resolve) => setTimeout(resolve, ms))
      const file = await registryProgram(tool, { cache, npm })
      return (await run('sh', ['-c', `"${file}"`])).stdout
    }),
  )
  expect(outputs).toEqual(Array(4).fill('works\n'))
  expect(await readdir(cache)).toEqual(['tool-1.0.0'])
  await rm(folder, { recursive: true })
})
