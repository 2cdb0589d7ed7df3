import { defineConfig } from 'vitest/config'

const exclude = ['**/node_modules/**', 'bench/.peers/**', '.cache/**', '.local/**']
const globalSetup = ['tools/testbed/src/global-setup.ts']
/** What is waited for comes when it comes: nothing here is a claim of time. */
const expect = { poll: { timeout: 30_000 } }

// Two cores: two files at once, and scenarios, which start whole stacks, one after the other.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [...exclude, '**/*.live.test.ts'],
          testTimeout: 60_000, // property tests, on a machine that may be busy with something else
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'live',
          include: ['**/*.live.test.ts'],
          exclude,
          globalSetup,
          expect,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'scenario',
          include: ['**/*.scenario.ts'],
          exclude,
          globalSetup,
          expect,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          testTimeout: 180_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
