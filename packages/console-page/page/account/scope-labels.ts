import type { Scope } from '@gateway/api/console/scopes'

/** What each scope of a personal token allows, in the order of the form. */
export const scopeLabels: Record<Scope, string> = {
  'flows:read': 'View flows and executions',
  'flows:write': 'Edit and run flows (spends from the wallet)',
  'assets:read': 'View assets',
  'assets:write': 'Upload and delete assets',
  'keys:read': 'View API keys',
  'keys:write': 'Create, rotate and revoke API keys',
  'money:read': 'Read wallets, statements, usage and calls',
  'money:write': 'Add funds and adjust balances, as a platform operator',
  'notices:read': 'View alerts and webhooks',
  'notices:write': 'Change alert rules and webhooks',
  'projects:read': 'View projects, grants and assignments',
  'projects:write': 'Change projects, grants and assignments',
  'catalogue:read': 'View the catalog',
  'catalogue:write': 'Change the catalog, as a platform operator',
  'organization:read': 'View members, teams and the audit log',
  'organization:write': 'Change members and teams',
  'tokens:read': 'View service tokens',
  'tokens:write': 'Create and delete service tokens',
  'account:read': 'View your sessions and personal tokens',
  'account:write': 'End your sessions and personal tokens, set your first password',
  operator: 'Act as a platform operator, in the areas selected above',
}
