import { symlink } from 'node:fs/promises'
import path from 'node:path'
import { onceAWorker } from '@gateway/testbed/stack-test'
import { startSeededStack } from '@gateway/testbed/seeded-stack'
import { temporaryFolder } from '@gateway/testbed/test-servers'
import { test as base } from 'vitest'
import { homeOf, openShell } from './guide-shell.ts'

const shared = onceAWorker(
  () => startSeededStack({ write: () => {} }),
  (stack) => stack.stop(),
)

/** `test` with the stack that `npm start` starts, and `open`, which opens a shell for a guide in an empty folder. */
export const guideTest = base
  // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern what a fixture needs
  .extend('stack', { scope: 'worker' }, ({}, { onCleanup }) => {
    onCleanup(shared.close)
    return shared.open()
  })
  // oxlint-disable-next-line no-empty-pattern -- as above
  .extend('open', async ({}, { onCleanup }) => {
    const folder = await temporaryFolder('guide')
    await symlink(path.join(import.meta.dirname, '../../node_modules'), path.join(folder, 'node_modules'))
    return (variables: Record<string, string> = {}) => {
      const shell = openShell(folder, homeOf(folder, variables))
      onCleanup(shell.close)
      return { shell, folder, variables: new Set(Object.keys(variables)) }
    }
  })
