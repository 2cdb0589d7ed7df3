import {
  newSecondFactorBody,
  recoveryCodes,
  secondFactorCodeBody,
  secondFactorRecord,
  secondFactorSetup,
  sessionRecord,
} from '../console/second-factor.ts'
import { newOperatorBody, userQuery, userRecord } from '../console/users.ts'
import type { ApiRoute } from './api-route.ts'
import { byOperator, bySession, done, made, madeOrChanged, one, page, paged, route, sent } from './console-rows.ts'

const account = route('Sign-in', 'account')
const users = route('Users of the installation', 'organization')

/** Sessions and the second factor of a user. */
const accountRoutes = {
  listSessions: account('GET', '/api/v2/me/sessions', 'List my sessions', page(sessionRecord), paged),
  endSession: account('DELETE', '/api/v2/me/sessions/{session}', 'End a session', done),
  signOutEverywhere: account('DELETE', '/api/v2/me/sessions', 'Sign out everywhere', done, {
    description:
      'Ends all sessions, personal tokens and sign-in codes of the user, also those of this request, and what the tokens made.',
  }),
  readSecondFactor: account('GET', '/api/v2/me/second-factor', 'Read my second factor', one(secondFactorRecord)),
  setUpSecondFactor: account('POST', '/api/v2/me/second-factor', 'Set up a second factor', made(secondFactorSetup), {
    ...sent(newSecondFactorBody, 'sign_in_failed', 'already_exists', 'rate_limited'),
    ...bySession,
    description: 'It is not in use until it is confirmed. Until then, asking again replaces it.',
  }),
  confirmSecondFactor: account(
    'POST',
    '/api/v2/me/second-factor/confirm',
    'Confirm a second factor with its first code',
    one(recoveryCodes),
    {
      ...sent(secondFactorCodeBody, 'second_factor_failed', 'already_exists', 'rate_limited'),
      ...bySession,
      description:
        'From then on signing in takes a code. Ends all other sessions of the user, and sets a new cookie for this one. The recovery codes are shown this once; each replaces one code.',
    },
  ),
  createRecoveryCodes: account(
    'POST',
    '/api/v2/me/second-factor/recovery-codes',
    'Replace my recovery codes',
    one(recoveryCodes),
    { ...sent(secondFactorCodeBody, 'second_factor_failed', 'rate_limited'), ...bySession },
  ),
  removeSecondFactor: account('POST', '/api/v2/me/second-factor/remove', 'Remove my second factor', done, {
    ...sent(secondFactorCodeBody, 'second_factor_failed', 'rate_limited'),
    ...bySession,
  }),
} as const satisfies Record<string, ApiRoute>

/** Operations of the platform operator on users. What hands out the operator role takes a session. */
const operatorRoutes = {
  listUsers: users('GET', '/api/v2/users', 'List users', page(userRecord), {
    ...paged,
    query: userQuery,
    scopes: ['organization:read', 'operator'],
    description: 'Requires a platform operator. Says nothing of their organizations.',
  }),
  disableUser: users('POST', '/api/v2/users/{user}/disable', 'Disable a user', one(userRecord), {
    ...byOperator('organization'),
    refusals: ['last_operator'],
    description:
      'Requires a platform operator. Ends all sessions, personal tokens and sign-in codes of the user, who can no longer sign in, and what the tokens made. Keys that they created are refused from the next call on.',
  }),
  enableUser: users('POST', '/api/v2/users/{user}/enable', 'Enable a disabled user', one(userRecord), {
    ...byOperator('organization'),
    description: 'Requires a platform operator. What was ended stays ended; keys work again.',
  }),
  resetSecondFactor: users('DELETE', '/api/v2/users/{user}/second-factor', "Remove a user's second factor", done, {
    ...bySession,
    description:
      'Requires a platform operator. For a user who has lost the authenticator app and all recovery codes: ends all their sessions, personal tokens and sign-in codes, and what the tokens made.',
  }),
  listOperators: users('GET', '/api/v2/operators', 'List platform operators', page(userRecord), {
    ...paged,
    scopes: ['organization:read', 'operator'],
  }),
  addOperator: users('POST', '/api/v2/operators', 'Make a user a platform operator', madeOrChanged(userRecord), {
    ...sent(newOperatorBody),
    ...bySession,
    description: 'Refused for a user whose `emailVerified` is false, unless the body says the same.',
  }),
  removeOperator: users('DELETE', '/api/v2/operators/{user}', 'Revoke the platform operator role', done, {
    ...bySession,
    refusals: ['last_operator'],
  }),
} as const satisfies Record<string, ApiRoute>

export const consoleSecurityRoutes = { ...accountRoutes, ...operatorRoutes } as const
