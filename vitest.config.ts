import { defineConfig } from 'vitest/config'
import { pageTests } from './packages/console-page/src/page-tests.fixture.ts'
import { findChromium } from './tools/testbed/src/find-program.ts'

const exclude = ['**/node_modules/**', 'bench/.peers/**', '.cache/**', '.local/**']
const globalSetup = ['tools/testbed/src/global-setup.ts']
/** The share of their cases that random tests try: all in `npm run test:full`. */
const provide = { propertyShare: process.env['TEST_TIER'] === 'full' ? 1 : 0.1 }
/** What is waited for comes when it comes: nothing here is a claim of time. */
const expect = { poll: { timeout: 30_000 } }

const scenarioFiles = (...names: string[]) => names.map((name) => `scenarios/${name}.scenario.ts`)

/** Beyond `npm test`: browsers, shells, coding agents and other foreign clients, seeded stacks, kills. */
const full = scenarioFiles(
  'alerts',
  'assets-page',
  'canary',
  'canvas',
  'capture',
  'cli',
  'client-packed',
  'coding-agents',
  'command-line-sign-in',
  'console-network',
  'docs',
  'editor-panels',
  'executions-page',
  'fault-matrix',
  'flow-editor',
  'flow-library',
  'flow-runs',
  'fuzz',
  'guides',
  'images',
  'mcp-bridge',
  'mcp-clients',
  'mcp-conformance',
  'mcp-cut',
  'mcp-docs',
  'notices',
  'notices-page',
  'operator',
  'operator-money',
  'operator-product',
  'operator-providers',
  'invitations',
  'journeys',
  'organization',
  'pictures',
  'playground',
  'second-factor',
  'secret-rotation',
  'shell-completion',
  'skewed-clocks',
  'stock-clients',
  'template-to-agent',
  'usage-page',
).concat('deploy/src/components.scenario.ts')
/** These measure how much is done in a time, or stop parts while they do: nothing else runs at the same time. */
const fullAlone = scenarioFiles(
  'client-follow',
  'crashes',
  'flow-crashes',
  'flow-fairness',
  'postgres-crashes',
  'rerun',
  'restore',
  'revocation',
  'revocation-of-flows',
  'silence',
  'stalls',
  'stopped-executions',
  'upgrade',
  'worker-burst',
)

const scenario = { globalSetup, expect, testTimeout: 180_000, hookTimeout: 120_000, isolate: false }

// Two cores: two files at once. The files of a worker share its process, and in it one stack and one browser.
const [page, pageFull] = (['page', 'page-full'] as const).map((name) => pageTests(name, () => findChromium()))

export default defineConfig({
  test: {
    chaiConfig: { truncateThreshold: 0 }, // a failure seen once in a long run must say what it saw
    taskTitleValueFormatTruncate: 0,
    teardownTimeout: 60_000, // the stacks of the last files stop
    projects: [
      { ...page, test: { ...page!.test, expect, sequence: { groupOrder: 1 } } },
      { ...pageFull, test: { ...pageFull!.test, expect, sequence: { groupOrder: 4 } } },
      {
        test: {
          name: 'unit',
          provide,
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
          include: ['**/*.live.test.ts'],
          isolate: false,
          exclude,
          globalSetup,
          provide,
          expect,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'scenario',
          include: ['**/*.scenario.ts'],
          exclude: [...exclude, ...full, ...fullAlone],
          ...scenario,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'full',
          include: full,
          exclude,
          ...scenario,
          maxWorkers: 2,
          sequence: { groupOrder: 5 },
        },
      },
      {
        test: {
          name: 'full-alone',
          include: fullAlone,
          exclude,
          ...scenario,
          fileParallelism: false,
          sequence: { groupOrder: 6 },
        },
      },
    ],
  },
})
