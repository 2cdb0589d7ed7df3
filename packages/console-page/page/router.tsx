import { createRootRoute, createRoute, createRouter, type RouterHistory } from '@tanstack/react-router'
import { commandLineView } from './account/command-line-view.ts'
import { assetsView } from './assets/asset-labels.ts'
import { callFilters } from './calls/call-filters.ts'
import { catalogueView } from './catalogue/catalogue-view.ts'
import { executionFilters } from './executions/execution-filters.ts'
import { flowListView, flowView } from './flow-editor/flow-views.ts'
import { openPages } from './frame/open-page.tsx'
import { SessionGuard } from './frame/frame.tsx'
import { FailedScreen, laterScreen, UnknownScreen } from './frame/screen.tsx'
import { keyView } from './keys/key-view.ts'
import { auditFilters } from './organization/audit-filters.ts'
import {
  moneyView,
  newProductView,
  productsView,
  providersView,
  revenueView,
  walletsView,
} from './operator/operator-views.ts'
import { playgroundView } from './playground/core/playground-view.ts'
import { refusalView } from './refusals/refusal-view.ts'
import { statementView } from './statement/statement-month.ts'
import { usageView } from './usage/usage-view.ts'

// Routes of all screens. The URL includes filters, so that views can be bookmarked, shared and returned to.

const root = createRootRoute({ component: SessionGuard, notFoundComponent: UnknownScreen })
const at = <const Path extends string>(path: Path) => ({ getParentRoute: () => root, path })

// The frame loads first; the code of a screen, when it is opened.
const flowScreen = laterScreen(() => import('./flow-editor/flow-screen.tsx'), 'FlowScreen')
const executionsScreen = laterScreen(() => import('./executions/executions-screen.tsx'), 'ExecutionsScreen')
const usageScreen = laterScreen(() => import('./usage/usage-screen.tsx'), 'UsageScreen')
const statementScreen = laterScreen(() => import('./statement/statement-screen.tsx'), 'StatementScreen')
const callsScreen = laterScreen(() => import('./calls/calls-screen.tsx'), 'CallsScreen')
const callScreen = laterScreen(() => import('./calls/call-screen.tsx'), 'CallScreen')
const usersScreen = laterScreen(() => import('./users/users-screen.tsx'), 'UsersScreen')
const settingsScreen = laterScreen(() => import('./settings/settings-screen.tsx'), 'SettingsScreen')
const accountScreen = laterScreen(() => import('./account/account-screen.tsx'), 'AccountScreen')
const commandLineScreen = laterScreen(() => import('./account/command-line-screen.tsx'), 'CommandLineScreen')
const membersScreen = laterScreen(() => import('./organization/members-screen.tsx'), 'MembersScreen')
const budgetsScreen = laterScreen(() => import('./organization/budgets-screen.tsx'), 'BudgetsScreen')
const teamsScreen = laterScreen(() => import('./organization/teams-screen.tsx'), 'TeamsScreen')
const teamScreen = laterScreen(() => import('./organization/team-screen.tsx'), 'TeamScreen')
const ownProjectsScreen = laterScreen(() => import('./organization/projects-screen.tsx'), 'OrganizationProjectsScreen')
const assignmentsScreen = laterScreen(() => import('./organization/assignments-screen.tsx'), 'AssignmentsScreen')
const auditScreen = laterScreen(() => import('./organization/audit-screens.tsx'), 'AuditScreen')
const ownTokensScreen = laterScreen(() => import('./organization/tokens-screen.tsx'), 'OrganizationTokensScreen')
const ownWebhooksScreen = laterScreen(() => import('./organization/webhooks-screen.tsx'), 'OrganizationWebhooksScreen')
const securityLogScreen = laterScreen(() => import('./organization/audit-screens.tsx'), 'SecurityLogScreen')
const platformAuditScreen = laterScreen(() => import('./organization/audit-screens.tsx'), 'PlatformAuditScreen')
const invitationScreen = laterScreen(() => import('./sign-in/invitation-screen.tsx'), 'InvitationScreen')
const resetScreen = laterScreen(() => import('./sign-in/reset-screen.tsx'), 'ResetScreen')
const noticesScreen = laterScreen(() => import('./notices/notices-screen.tsx'), 'NoticesScreen')
const webhookScreen = laterScreen(() => import('./notices/webhook-screen.tsx'), 'WebhookScreen')
const refusalsScreen = laterScreen(() => import('./refusals/refusals-screen.tsx'), 'RefusalsScreen')
const catalogueScreen = laterScreen(() => import('./catalogue/catalogue-screen.tsx'), 'CatalogueScreen')
const modelScreen = laterScreen(() => import('./catalogue/model-screen.tsx'), 'ModelScreen')
const assetsScreen = laterScreen(() => import('./assets/assets-screen.tsx'), 'AssetsScreen')
const productsScreen = laterScreen(() => import('./operator/products-screen.tsx'), 'ProductsScreen')
const newProductScreen = laterScreen(() => import('./operator/product-screen.tsx'), 'NewProductScreen')
const productScreen = laterScreen(() => import('./operator/product-screen.tsx'), 'ProductScreen')
const moneyScreen = laterScreen(() => import('./operator/money-screen.tsx'), 'MoneyScreen')
const walletsScreen = laterScreen(() => import('./operator/wallets-screen.tsx'), 'WalletsScreen')
const revenueScreen = laterScreen(() => import('./operator/revenue-screen.tsx'), 'RevenueScreen')
const providersScreen = laterScreen(() => import('./operator/providers-screen.tsx'), 'ProvidersScreen')
const providerScreen = laterScreen(() => import('./operator/provider-screen.tsx'), 'ProviderScreen')
const organizationsScreen = laterScreen(() => import('./operator/organizations-screen.tsx'), 'OrganizationsScreen')
const operatorUsersScreen = laterScreen(() => import('./operator/users-screen.tsx'), 'OperatorUsersScreen')
const playgroundScreen = laterScreen(() => import('./playground/playground-screen.tsx'), 'PlaygroundScreen')
const projectsScreen = laterScreen(() => import('./projects/projects-screen.tsx'), 'ProjectsScreen')
const overviewScreen = laterScreen(() => import('./overview/overview-screen.tsx'), 'OverviewScreen')
const keysScreen = laterScreen(() => import('./keys/keys-screen.tsx'), 'KeysScreen')
const keyScreen = laterScreen(() => import('./keys/key-screen.tsx'), 'KeyScreen')
const flowsScreen = laterScreen(() => import('./flow-editor/flows-screen.tsx'), 'FlowsScreen')

const routes = [
  createRoute({ ...at('/'), component: projectsScreen }),
  createRoute({ ...at('/projects/$tenant/$project'), component: overviewScreen }),
  createRoute({ ...at('/projects/$tenant/$project/keys'), component: keysScreen, validateSearch: keyView }),
  createRoute({ ...at('/projects/$tenant/$project/keys/$key'), component: keyScreen }),
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
  createRoute({ ...at('/projects/$tenant/$project/flows'), component: flowsScreen, validateSearch: flowListView }),
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
  createRoute({ ...at('/organizations/$tenant/budgets'), component: budgetsScreen }),
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
  createRoute({ ...at('/projects/$tenant/$project/models/$product'), component: modelScreen }),
  createRoute({ ...at('/operator/money'), component: moneyScreen, validateSearch: moneyView }),
  createRoute({ ...at('/operator/wallets'), component: walletsScreen, validateSearch: walletsView }),
  createRoute({ ...at('/operator/revenue'), component: revenueScreen, validateSearch: revenueView }),
  createRoute({ ...at('/operator/providers'), component: providersScreen, validateSearch: providersView }),
  createRoute({ ...at('/operator/providers/$provider'), component: providerScreen, validateSearch: providersView }),
  createRoute({ ...at('/operator/audit'), component: platformAuditScreen, validateSearch: auditFilters }),
  createRoute({ ...at('/operator/organizations'), component: organizationsScreen }),
  createRoute({ ...at('/operator/users'), component: operatorUsersScreen }),
  createRoute({ ...at('/operator/products'), component: productsScreen, validateSearch: productsView }),
  createRoute({ ...at('/operator/products/-/new'), component: newProductScreen, validateSearch: newProductView }),
  createRoute({ ...at('/operator/products/$product'), component: productScreen }),
  createRoute({
    ...at('/projects/$tenant/$project/playground'),
    component: playgroundScreen,
    validateSearch: playgroundView,
  }),
]

const routeTree = root.addChildren(routes)

/** @param history that of the browser by default */
export function openRouter(history?: RouterHistory) {
  return createRouter({
    routeTree,
    basepath: import.meta.env.BASE_URL,
    scrollRestoration: true,
    search: { strict: true }, // drops parameters that no screen knows
    defaultErrorComponent: FailedScreen,
    ...(history && { history }),
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof openRouter>
  }
}
