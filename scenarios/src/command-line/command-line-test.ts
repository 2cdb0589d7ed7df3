import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buildCommandLine } from '@gateway/cli/build-command-line'
import { consoleTest } from '../console/console-test.ts'
import { openCommandLine } from './open-command-line.ts'

/** `test` with the whole service, the built command, a browser, and for each test somebody before a shell. */
export const commandLineTest = consoleTest
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('program', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'gateway-command-'))
    onCleanup(() => rm(folder, { recursive: true, force: true }))
    return buildCommandLine(folder)
  })
  .extend('line', async ({ stack, program }, { onCleanup }) => {
    const line = await openCommandLine(stack, program)
    onCleanup(line.close)
    return line
  })
