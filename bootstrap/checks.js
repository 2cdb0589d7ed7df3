/** What `npm test` runs before the tests: title, tool, arguments and, where there is one, the command that mends it. */
export const checks = [
  { title: 'format', tool: 'oxfmt', args: ['--check', '.'], resolution: 'npm run format' },
  { title: 'types', tool: 'tsc', args: ['--noEmit', '-p', 'tsconfig.json'] },
  { title: 'lint and import directions', tool: 'oxlint', args: ['--type-aware', '--deny-warnings', '.'] },
  { title: 'dead code', tool: 'knip', args: ['--no-progress', '--no-config-hints'] },
]
