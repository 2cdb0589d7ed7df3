/** Screens of a project, in rail order, under the headings of the rail. */
export const screenGroups = [
  {
    title: null,
    screens: [{ to: '/projects/$tenant/$project', title: 'Overview', icon: 'overview', isExact: true }],
  },
  {
    title: 'Build',
    screens: [
      { to: '/projects/$tenant/$project/models', title: 'Models', icon: 'models', isExact: false },
      { to: '/projects/$tenant/$project/playground', title: 'Playground', icon: 'playground', isExact: false },
      { to: '/projects/$tenant/$project/flows', title: 'Flows', icon: 'flows', isExact: false },
      { to: '/projects/$tenant/$project/executions', title: 'Executions', icon: 'executions', isExact: false },
      { to: '/projects/$tenant/$project/assets', title: 'Assets', icon: 'assets', isExact: false },
    ],
  },
  {
    title: 'Observe',
    screens: [
      { to: '/projects/$tenant/$project/calls', title: 'Calls', icon: 'calls', isExact: false },
      { to: '/projects/$tenant/$project/usage', title: 'Usage', icon: 'usage', isExact: false },
      { to: '/projects/$tenant/$project/refusals', title: 'Errors', icon: 'refusals', isExact: false },
      { to: '/projects/$tenant/$project/notices', title: 'Alerts', icon: 'notices', isExact: false },
    ],
  },
  {
    title: 'Billing',
    screens: [{ to: '/projects/$tenant/$project/statement', title: 'Statement', icon: 'statement', isExact: false }],
  },
  {
    title: 'Access',
    screens: [
      { to: '/projects/$tenant/$project/keys', title: 'API keys', icon: 'keys', isExact: false },
      { to: '/projects/$tenant/$project/users', title: 'Users', icon: 'users', isExact: false },
    ],
  },
  {
    title: null,
    screens: [{ to: '/projects/$tenant/$project/settings', title: 'Settings', icon: 'settings', isExact: false }],
  },
] as const

export const screens = screenGroups.flatMap((group): readonly (typeof group.screens)[number][] => group.screens)
