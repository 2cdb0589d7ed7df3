import { revocations } from '@gateway/api/request-kinds'
import { refuse } from '@gateway/api/refusal'
import { deleteAsset, listAssets, readAsset, uploadAsset } from './assets/assets.ts'
import {
  cancelExecution,
  followExecution,
  listExecutions,
  listProjectExecutions,
  readExecution,
} from './executions/executions.ts'
import { estimateSandbox, executeSandbox, rerunExecution } from './executions/execute-sandbox.ts'
import { checkKey, createKey } from './keys/create-key.ts'
import { reportLeakedSecrets } from './keys/report-leaked-secrets.ts'
import { revokeKey, rotateKey } from './keys/rotate-key.ts'
import { correctWallet, fundWallet, listFundings, readWallet } from './money/wallet.ts'
import { createTeam, deleteTeam, listTeamMembers, listTeams, removeTeamMember, setTeamMember } from './users/teams.ts'
import { activateRevision, listRevisions, readRevision, saveRevision } from './sandboxes/revisions.ts'
import { exportAudit, exportPlatformAudit } from './audit/export-audit.ts'
import { listAudit, listMyAudit, listPlatformAudit } from './audit/list-audit.ts'
import { changeProduct, createProduct, listProducts } from './catalogue/products.ts'
import type { ConsoleDeps } from './deps.ts'
import { pauseKey, renameKey, resumeKey } from './keys/change-key.ts'
import { listKeys, readKey } from './keys/list-keys.ts'
import { readContent } from './content/read-content.ts'
import { listInvocations, readInvocation } from './money/invocations.ts'
import { listJournal } from './money/journal.ts'
import { readStatement } from './money/statement.ts'
import { readUsage } from './money/usage.ts'
import { testProvider } from './platform/provider-tests.ts'
import { listProviders } from './platform/providers.ts'
import { readRevenue } from './platform/revenue.ts'
import { listWallets } from './platform/wallets.ts'
import { listNotices } from './notices/list-notices.ts'
import { listDeliveries, resendDelivery, testWebhook } from './notices/webhook-deliveries.ts'
import { createWebhook, deleteWebhook, listWebhooks, readWebhook, rotateWebhookSecret } from './notices/webhooks.ts'
import { deleteTenantWebhook, listTenantWebhooks } from './notices/tenant-webhooks.ts'
import { listBudgets, removeBudget, setBudget } from './projects/budgets.ts'
import { readThresholds, setThresholds } from './notices/thresholds.ts'
import { acceptInvitation, joinOrganization, readInvitation, signInWithInvitation } from './users/accept-invitation.ts'
import { createInvitation, listInvitations, resendInvitation, revokeInvitation } from './users/invitations.ts'
import { changeMember, listMembers, removeMember, resumeMember, suspendMember } from './users/members.ts'
import {
  addOperator,
  disableUser,
  enableUser,
  listOperators,
  listUsers,
  removeOperator,
  resetSecondFactor,
} from './users/operators.ts'
import { changeTenant, createTenant, deleteTenant, listTenants } from './users/tenants.ts'
import { assignProduct, listAssignments, unassignProduct } from './projects/assignments.ts'
import { changeProject, createProject, deleteProject, listProjects } from './projects/projects.ts'
import { changeQuotas, readQuotas } from './projects/quotas.ts'
import { listAppointments, objectToAppointment } from './projects/appointments.ts'
import { listGrants, removeGrant, setGrant } from './projects/grants.ts'
import { countRefusals, listLatestRefusals } from './refusals/refusals.ts'
import type { Handlers } from './request/call.ts'
import { listSandboxActivity, changeSandbox, createSandbox, listSandboxes, readSandbox } from './sandboxes/sandboxes.ts'
import {
  createProjectToken,
  createTenantToken,
  deleteProjectToken,
  deleteTenantToken,
  listProjectTokens,
  listTenantTokens,
} from './sign-in/access-tokens.ts'
import { completeSignIn, createSignInCode, readSignInMethods, redeemSignInCode } from './sign-in/complete-sign-in.ts'
import { readMe } from './sign-in/me.ts'
import { oidcCallback, oidcRedirect } from './sign-in/provider/oidc-callback.ts'
import {
  confirmSecondFactor,
  createRecoveryCodes,
  readSecondFactor,
  removeSecondFactor,
  setUpSecondFactor,
} from './sign-in/second-factor.ts'
import { endSession, listSessions, signOutEverywhere, signIn, signOut } from './sign-in/sessions.ts'
import { completeReset, createResetLink, requestReset } from './sign-in/password-reset.ts'
import { setPassword } from './sign-in/set-password.ts'
import { createToken, deleteToken, listTokens } from './sign-in/tokens.ts'

/**
 * Maps each operation of the contract to its handler (paths: packages/api/src/api/console-routes.ts). Revocations run
 * on separate connections.
 */
export function consoleHandlers(deps: ConsoleDeps): Handlers {
  const handlers = handlersOf(deps)
  const revoking = handlersOf({ ...deps, prisma: deps.revocationPrisma })
  const chosen = [...revocations].map((operation) => [operation, revoking[operation]])
  return { ...handlers, ...Object.fromEntries(chosen) } as Handlers
}

function handlersOf(deps: ConsoleDeps): Handlers {
  const { provider, publicUrl } = deps
  const throughProvider = provider === undefined || publicUrl === undefined ? null : { ...deps, provider, publicUrl }
  return {
    readSignInMethods: readSignInMethods(deps),
    signIn: signIn(deps),
    signOut: signOut(deps),
    oidcRedirect: throughProvider ? oidcRedirect(throughProvider) : withoutProvider,
    oidcCallback: throughProvider ? oidcCallback(throughProvider) : withoutProvider,
    completeSignIn: completeSignIn(deps),
    requestReset: requestReset(deps),
    completeReset: completeReset(deps),
    createResetLink: createResetLink(deps),
    readInvitation: readInvitation(deps),
    acceptInvitation: acceptInvitation(deps),
    signInWithInvitation: signInWithInvitation(deps),
    joinOrganization: joinOrganization(deps),
    readMe: readMe(deps),
    setPassword: setPassword(deps),
    listTokens: listTokens(deps),
    createToken: createToken(deps),
    deleteToken: deleteToken(deps),
    createSignInCode: createSignInCode(deps),
    redeemSignInCode: redeemSignInCode(deps),

    listSessions: listSessions(deps),
    endSession: endSession(deps),
    signOutEverywhere: signOutEverywhere(deps),
    readSecondFactor: readSecondFactor(deps),
    setUpSecondFactor: setUpSecondFactor(deps),
    confirmSecondFactor: confirmSecondFactor(deps),
    createRecoveryCodes: createRecoveryCodes(deps),
    removeSecondFactor: removeSecondFactor(deps),

    listUsers: listUsers(deps),
    disableUser: disableUser(deps),
    enableUser: enableUser(deps),
    resetSecondFactor: resetSecondFactor(deps),
    listOperators: listOperators(deps),
    addOperator: addOperator(deps),
    removeOperator: removeOperator(deps),

    listTenants: listTenants(deps),
    createTenant: createTenant(deps),
    changeTenant: changeTenant(deps),
    deleteTenant: deleteTenant(deps),
    listMembers: listMembers(deps),
    changeMember: changeMember(deps),
    removeMember: removeMember(deps),
    suspendMember: suspendMember(deps),
    resumeMember: resumeMember(deps),
    listInvitations: listInvitations(deps),
    createInvitation: createInvitation(deps),
    resendInvitation: resendInvitation(deps),
    revokeInvitation: revokeInvitation(deps),
    listBudgets: listBudgets(deps),
    setBudget: setBudget(deps),
    removeBudget: removeBudget(deps),
    listTeams: listTeams(deps),
    createTeam: createTeam(deps),
    deleteTeam: deleteTeam(deps),
    listTeamMembers: listTeamMembers(deps),
    setTeamMember: setTeamMember(deps),
    removeTeamMember: removeTeamMember(deps),
    listAudit: listAudit(deps),
    exportAudit: exportAudit(deps),
    listMyAudit: listMyAudit(deps),
    listPlatformAudit: listPlatformAudit(deps),
    exportPlatformAudit: exportPlatformAudit(deps),
    listProviders: listProviders(deps),
    testProvider: testProvider(deps),
    listWallets: listWallets(deps),
    readRevenue: readRevenue(deps),

    listProjects: listProjects(deps),
    createProject: createProject(deps),
    changeProject: changeProject(deps),
    deleteProject: deleteProject(deps),
    readQuotas: readQuotas(deps),
    changeQuotas: changeQuotas(deps),
    listGrants: listGrants(deps),
    setGrant: setGrant(deps),
    removeGrant: removeGrant(deps),
    listAppointments: listAppointments(deps),
    objectToAppointment: objectToAppointment(deps),
    listAssignments: listAssignments(deps),
    assignProduct: assignProduct(deps),
    unassignProduct: unassignProduct(deps),

    listKeys: listKeys(deps),
    createKey: createKey(deps),
    readKey: readKey(deps),
    renameKey: renameKey(deps),
    pauseKey: pauseKey(deps),
    resumeKey: resumeKey(deps),
    revokeKey: revokeKey(deps),
    rotateKey: rotateKey(deps),
    checkKey: checkKey(deps),
    reportLeakedSecrets: reportLeakedSecrets(deps),

    readWallet: readWallet(deps),
    fundWallet: fundWallet(deps),
    correctWallet: correctWallet(deps),
    readStatement: readStatement(deps),
    listFundings: listFundings(deps),
    listJournal: listJournal(deps),
    readUsage: readUsage(deps),
    countRefusals: countRefusals(deps),
    listLatestRefusals: listLatestRefusals(deps),
    listInvocations: listInvocations(deps),
    readInvocation: readInvocation(deps),
    readContent: readContent(deps),

    readThresholds: readThresholds(deps),
    setThresholds: setThresholds(deps),
    listNotices: listNotices(deps),
    listWebhooks: listWebhooks(deps),
    createWebhook: createWebhook(deps),
    readWebhook: readWebhook(deps),
    deleteWebhook: deleteWebhook(deps),
    listTenantWebhooks: listTenantWebhooks(deps),
    deleteTenantWebhook: deleteTenantWebhook(deps),
    rotateWebhookSecret: rotateWebhookSecret(deps),
    testWebhook: testWebhook(deps),
    listDeliveries: listDeliveries(deps),
    resendDelivery: resendDelivery(deps),

    listSandboxes: listSandboxes(deps),
    createSandbox: createSandbox(deps),
    listSandboxActivity: listSandboxActivity(deps),
    readSandbox: readSandbox(deps),
    changeSandbox: changeSandbox(deps),
    listRevisions: listRevisions(deps),
    saveRevision: saveRevision(deps),
    readRevision: readRevision(deps),
    activateRevision: activateRevision(deps),
    executeSandbox: executeSandbox(deps),
    estimateSandbox: estimateSandbox(deps),
    listExecutions: listExecutions(deps),
    listProjectExecutions: listProjectExecutions(deps),
    readExecution: readExecution(deps),
    cancelExecution: cancelExecution(deps),
    rerunExecution: rerunExecution(deps),
    followExecution: followExecution(deps),

    uploadAsset: uploadAsset(deps),
    listAssets: listAssets(deps),
    readAsset: readAsset(deps),
    deleteAsset: deleteAsset(deps),

    listTenantTokens: listTenantTokens(deps),
    createTenantToken: createTenantToken(deps),
    deleteTenantToken: deleteTenantToken(deps),
    listProjectTokens: listProjectTokens(deps),
    createProjectToken: createProjectToken(deps),
    deleteProjectToken: deleteProjectToken(deps),

    listProducts: listProducts(deps),
    createProduct: createProduct(deps),
    changeProduct: changeProduct(deps),
  }
}

/** Without a sign-in provider there is nothing to redirect to, for any caller. */
function withoutProvider(): never {
  throw refuse('not_found', {})
}
