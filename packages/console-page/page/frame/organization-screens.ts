/** Screens of an organization, in rail order. */
export const organizationScreens = [
  { to: '/organizations/$tenant/members', title: 'Members', icon: 'users', isForAdmins: false },
  { to: '/organizations/$tenant/teams', title: 'Teams', icon: 'teams', isForAdmins: false },
  { to: '/organizations/$tenant/projects', title: 'Projects', icon: 'overview', isForAdmins: false },
  { to: '/organizations/$tenant/audit', title: 'Audit log', icon: 'audit', isForAdmins: true },
  { to: '/organizations/$tenant/tokens', title: 'Service tokens', icon: 'tokens', isForAdmins: true },
  { to: '/organizations/$tenant/webhooks', title: 'Webhooks', icon: 'notices', isForAdmins: true },
] as const
