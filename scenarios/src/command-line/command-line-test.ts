import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buildCommandLine } from '@gateway/cli/build-command-line'
import { onceAWorker } from '@gateway/testbed/stack-test'
import { consoleTest } from '../console/console-test.ts'
import { openCommandLine } from './open-command-line.ts'

const built = onceAWorker(
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-command-'))
    return { folder, program: await buildCommandLine(folder) }
  },
  ({ folder }) => rm(folder, { recursive: true, force: true }),
)

/** `test` with the whole service, the built command, a browser, and a shell for each test. */
export const commandLineTest = consoleTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('program', { scope: 'worker' }, async ({}, { onCleanup }) => {
    onCleanup(built.close)
    return (await built.open()).program
  })
  .extend('line', async ({ stack, program }, { onCleanup }) => {
    const line = await openCommandLine(stack, program)
    onCleanup(line.close)
    return line
  })
