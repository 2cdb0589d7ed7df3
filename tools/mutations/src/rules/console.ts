import type { Mutation } from '../mutation.ts'

/** Rules of the console. */
export const consoleRules: Mutation[] = [
  {
    id: 'console-issuer-team',
    rule: 'Only a member of the team of a project issues keys for it.',
    file: 'services/console/src/permissions/permissions.ts',
    find: 'return tenant !== null && team !== null && (',
    replace: 'return tenant !== null && (',
    tests: ['services/console/src/permissions', 'services/console/src/keys'],
  },
  {
    id: 'console-grant-membership',
    rule: 'A grant on a project is worth nothing without a membership of the organization.',
    file: 'services/console/src/permissions/permissions.ts',
    find: 'isMember(s) && s.project !== null',
    replace: 's.project !== null',
    tests: ['services/console/src/permissions'],
  },
  {
    id: 'console-token-list',
    rule: 'A token may do what it lists, and no more.',
    file: 'services/console/src/permissions/permissions.ts',
    find: '(only === undefined || only.includes(permission)) && ',
    replace: '',
    tests: ['services/console/src/permissions', 'services/console/src/sign-in/access-tokens'],
  },
  {
    id: 'console-token-project',
    rule: 'A token of a project sees no keys of another project.',
    file: 'services/console/src/permissions/visible-projects.ts',
    find: 'return project === null ? { tenant } : { tenant, project }',
    replace: 'return { tenant }',
    tests: ['services/console/src/permissions', 'services/console/src/keys', 'services/console/src/sign-in'],
  },
  {
    id: 'console-create-idempotency',
    rule: 'An idempotency key of a creation with another request under it is refused.',
    file: 'services/console/src/request/create-once.ts',
    find: "  if (!Buffer.from(kept.fingerprint).equals(fingerprint)) throw refuse('idempotency_mismatch', {})\n",
    replace: '',
    tests: ['services/console/src/request'],
  },
  {
    id: 'console-last-admin',
    rule: 'The last Admin of an organization stays.',
    file: 'services/console/src/users/members.ts',
    find: "if (count <= 1) throw refuse('last_admin', {})",
    replace: "if (count < 1) throw refuse('last_admin', {})",
    tests: ['services/console/src/users'],
  },
  {
    id: 'console-code-expiry',
    rule: 'A sign-in code is good for five minutes.',
    file: 'services/console/src/sign-in/complete-sign-in.ts',
    find: 'where: { hash, challenge, expiresAt: { gt: now() } }',
    replace: 'where: { hash, challenge }',
    tests: ['services/console/src/sign-in'],
  },
  {
    id: 'console-csv-formula',
    rule: 'A text in a CSV file is never read as a formula.',
    file: 'packages/api/src/csv-text.ts',
    find: '/^[=+\\-@\\t\\r\\n＝＋－＠]/u.test(value)',
    replace: '/^[=+\\-\\t\\r\\n＝＋－＠]/u.test(value)',
    tests: ['services/console/src/request'],
  },
]
