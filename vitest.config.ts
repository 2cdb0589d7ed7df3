import { defineConfig } from 'vitest/config'

const exclude = ['**/node_modules/**', 'bench/.peers/**', '.cache/**', '.local/**']
const globalSetup = ['tools/testbed/src/global-setup.ts']
/** `npm run test:unit`: only these tests are asked for, and the answer is wanted soon. */
const unitAlone = process.argv.join(' ').endsWith('--project unit')
/** What is waited for comes when it comes: nothing here is a claim of time. */
const expect = { poll: { timeout: 30_000 } }

const scenario = { globalSetup, expect, testTimeout: 180_000, hookTimeout: 120_000 }
/** Scenarios that hold a time against its bound, compare how much is done in one, or kill parts under load: nothing else runs beside them. */
const alone = [
  'client-follow',
  'crashes',
  'flow-crashes',
  'flow-fairness',
  'rerun',
  'revocation',
  'rolling-restart',
  'silence',
  'stalls',
  'stopped-executions',
  'worker-scaling',
].map((name) => `scenarios/${name}.scenario.ts`)

// Two cores: two files at once. The scenario files of a worker share its process.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          provide: { propertyShare: unitAlone ? 0.1 : 1 },
          include: ['**/*.test.ts'],
          isolate: false,
          exclude: [...exclude, '**/*.live.test.ts'],
          testTimeout: 60_000, // property tests, on a machine that may be busy with something else
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'live',
          isolate: false,
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
          exclude: [...exclude, ...alone],
          ...scenario,
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'scenario-alone',
          include: alone,
          exclude,
          ...scenario,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
