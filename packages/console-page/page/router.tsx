import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import { commandLineView } from './account/command-line-view.ts'
import { assetsView } from './assets/asset-labels.ts'
import { callFilters } from './calls/call-filters.ts'
import { catalogueView } from './catalogue/catalogue-view.ts'
import { executionFilters } from './executions/execution-filters.ts'
import { flowView } from './flow-editor/flow-view.ts'
import { FlowsScreen } from './flow-editor/flows-screen.tsx'
import { openPages } from './frame/open-page.tsx'
import { SessionGuard } from './frame/frame.tsx'
import { UnknownScreen } from './frame/screen.tsx'
import { KeysScreen, keyView } from './keys/keys-screen.tsx'
import { auditFilters } from './organization/audit-filters.ts'
import { moneyView, productsView } from './operator/operator-views.ts'
import { OverviewScreen } from './overview/overview-screen.tsx'
import { playgroundView } from './playground/core/playground-view.ts'
import { ProjectsScreen } from './projects/projects-screen.tsx'
import { refusalView } from './refusals/refusal-view.ts'
import { statementView } from './statement/statement-month.ts'
import { usageView } from './usage/usage-view.ts'

// Routes of all screens. The URL includes filters, so that views can be bookmarked, shared and returned to.

const root = createRootRoute({ component: SessionGuard, notFoundComponent: UnknownScreen })
const at = <const Path extends string>(path: Path) => ({ getParentRoute: () => root, path })

// The canvas code loads only when a flow is opened.
const flowScreen = lazyRouteComponent(() => import('./flow-editor/flow-screen.tsx'), 'FlowScreen')
const executionsScreen = lazyRouteComponent(() => import('./executions/executions-screen.tsx'), 'ExecutionsScreen')
const usageScreen = lazyRouteComponent(() => import('./usage/usage-screen.tsx'), 'UsageScreen')
const statementScreen = lazyRouteComponent(() => import('./statement/statement-screen.tsx'), 'StatementScreen')
const callsScreen = lazyRouteComponent(() => import('./calls/calls-screen.tsx'), 'CallsScreen')
const callScreen = lazyRouteComponent(() => import('./calls/call-screen.tsx'), 'CallScreen')
const usersScreen = lazyRouteComponent(() => import('./users/users-screen.tsx'), 'UsersScreen')
const settingsScreen = lazyRouteComponent(() => import('./settings/settings-screen.tsx'), 'SettingsScreen')
const accountScreen = lazyRouteComponent(() => import('./account/account-screen.tsx'), 'AccountScreen')
const commandLineScreen = lazyRouteComponent(() => import('./account/command-line-screen.tsx'), 'CommandLineScreen')
const membersScreen = lazyRouteComponent(() => import('./organization/members-screen.tsx'), 'MembersScreen')
const teamsScreen = lazyRouteComponent(() => import('./organization/teams-screen.tsx'), 'TeamsScreen')
const teamScreen = lazyRouteComponent(() => import('./organization/team-screen.tsx'), 'TeamScreen')
const ownProjectsScreen = lazyRouteComponent(
  () => import('./organization/projects-screen.tsx'),
  'OrganizationProjectsScreen',
)
const assignmentsScreen = lazyRouteComponent(() => import('./organization/assignments-screen.tsx'), 'AssignmentsScreen')
const auditScreen = lazyRouteComponent(() => import('./organization/audit-screen.tsx'), 'AuditScreen')
const ownTokensScreen = lazyRouteComponent(() => import('./organization/tokens-screen.tsx'), 'OrganizationTokensScreen')
const ownWebhooksScreen = lazyRouteComponent(
  () => import('./organization/webhooks-screen.tsx'),
  'OrganizationWebhooksScreen',
)
const securityLogScreen = lazyRouteComponent(() => import('./account/security-log-screen.tsx'), 'SecurityLogScreen')
const platformAuditScreen = lazyRouteComponent(
  () => import('./operator/platform-audit-screen.tsx'),
  'PlatformAuditScreen',
)
const invitationScreen = lazyRouteComponent(() => import('./sign-in/invitation-screen.tsx'), 'InvitationScreen')
const resetScreen = lazyRouteComponent(() => import('./sign-in/reset-screen.tsx'), 'ResetScreen')
const noticesScreen = lazyRouteComponent(() => import('./notices/notices-screen.tsx'), 'NoticesScreen')
const webhookScreen = lazyRouteComponent(() => import('./notices/webhook-screen.tsx'), 'WebhookScreen')
const refusalsScreen = lazyRouteComponent(() => import('./refusals/refusals-screen.tsx'), 'RefusalsScreen')
const catalogueScreen = lazyRouteComponent(() => import('./catalogue/catalogue-screen.tsx'), 'CatalogueScreen')
const assetsScreen = lazyRouteComponent(() => import('./assets/assets-screen.tsx'), 'AssetsScreen')
const productsScreen = lazyRouteComponent(() => import('./operator/products-screen.tsx'), 'ProductsScreen')
const moneyScreen = lazyRouteComponent(() => import('./operator/money-screen.tsx'), 'MoneyScreen')
const organizationsScreen = lazyRouteComponent(
  () => import('./operator/organizations-screen.tsx'),
  'OrganizationsScreen',
)
const operatorUsersScreen = lazyRouteComponent(() => import('./operator/users-screen.tsx'), 'OperatorUsersScreen')
const playgroundScreen = lazyRouteComponent(() => import('./playground/playground-screen.tsx'), 'PlaygroundScreen')

const routes = [
  createRoute({ ...at('/'), component: ProjectsScreen }),
  createRoute({ ...at('/projects/$tenant/$project'), component: OverviewScreen }),
  createRoute({ ...at('/projects/$tenant/$project/keys'), component: KeysScreen, validateSearch: keyView }),
  createRoute({ ...at('/projects/$tenant/$project/calls'), component: callsScreen, validateSearch: callFilters }),
  createRoute({ ...at('/projects/$tenant/$project/calls/$call'), component: callScreen }),
  createRoute({ ...at('/projects/$tenant/$project/usage'), component: usageScreen, validateSearch: usageView }),
  createRoute({
    ...at('/projects/$tenant/$project/statement'),
    component: statementScreen,
    validateSearch: statementView,
  }),
  createRoute({ ...at('/projects/$tenant/$project/notices'), component: noticesScreen }),
  createRoute({ ...at('/projects/$tenant/$project/notices/webhooks/$webhook'), component: webhookScreen }),
  createRoute({ ...at('/projects/$tenant/$project/refusals'), component: refusalsScreen, validateSearch: refusalView }),
  createRoute({ ...at('/projects/$tenant/$project/flows'), component: FlowsScreen }),
  createRoute({
    ...at('/projects/$tenant/$project/executions'),
    component: executionsScreen,
    validateSearch: executionFilters,
  }),
  createRoute({ ...at('/projects/$tenant/$project/flows/$sandbox'), component: flowScreen, validateSearch: flowView }),
  createRoute({ ...at('/projects/$tenant/$project/assets'), component: assetsScreen, validateSearch: assetsView }),
  createRoute({ ...at('/projects/$tenant/$project/users'), component: usersScreen }),
  createRoute({ ...at('/projects/$tenant/$project/settings'), component: settingsScreen }),
  createRoute({ ...at(openPages.invitation), component: invitationScreen }),
  createRoute({ ...at(openPages.reset), component: resetScreen }),
  createRoute({ ...at('/account'), component: accountScreen }),
  createRoute({ ...at('/account/security-log'), component: securityLogScreen, validateSearch: auditFilters }),
  createRoute({ ...at('/account/command-line'), component: commandLineScreen, validateSearch: commandLineView }),
  createRoute({ ...at('/organizations/$tenant/members'), component: membersScreen }),
  createRoute({ ...at('/organizations/$tenant/teams'), component: teamsScreen }),
  createRoute({ ...at('/organizations/$tenant/teams/$team'), component: teamScreen }),
  createRoute({ ...at('/organizations/$tenant/projects'), component: ownProjectsScreen }),
  createRoute({ ...at('/organizations/$tenant/projects/$project'), component: assignmentsScreen }),
  createRoute({ ...at('/organizations/$tenant/audit'), component: auditScreen, validateSearch: auditFilters }),
  createRoute({ ...at('/organizations/$tenant/tokens'), component: ownTokensScreen }),
  createRoute({ ...at('/organizations/$tenant/webhooks'), component: ownWebhooksScreen }),
  createRoute({
    ...at('/projects/$tenant/$project/models'),
    component: catalogueScreen,
    validateSearch: catalogueView,
  }),
  createRoute({ ...at('/operator/money'), component: moneyScreen, validateSearch: moneyView }),
  createRoute({ ...at('/operator/audit'), component: platformAuditScreen, validateSearch: auditFilters }),
  createRoute({ ...at('/operator/organizations'), component: organizationsScreen }),
  createRoute({ ...at('/operator/users'), component: operatorUsersScreen }),
  createRoute({ ...at('/operator/products'), component: productsScreen, validateSearch: productsView }),
  createRoute({
    ...at('/projects/$tenant/$project/playground'),
    component: playgroundScreen,
    validateSearch: playgroundView,
  }),
]

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: import.meta.env.BASE_URL,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
