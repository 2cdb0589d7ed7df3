import type { AdmitNodeItem } from '@gateway/ledger-protocol/flow-items'
import type { Book, KeyFacts, NodeFacts, ExecutionFacts } from './book.ts'
import type { AdmissionDecision } from './decide-admission.ts'
import { budgetsOf } from './count-towards-budgets.ts'
import { decideFit, type Remaining } from './decide-fit.ts'

/**
 * Decides the admission of a node's call (B9 of run_batch): like a direct call, except for the caller and for the lease
 * it needs.
 */
export function decideNodeAdmission(
  book: Book,
  item: AdmitNodeItem,
  nowMs: number,
  remaining: Remaining,
): AdmissionDecision {
  const again = book.open.get(item.id)
  if (again) return { code: 'again', reservation: again }

  const name = `${item.execution} ${item.node}`
  const execution = book.executions.get(item.execution)
  const node = book.nodes.get(name)
  if (!execution?.goesOn || !node || !mayCall(node, item) || book.chargedNodes.has(name)) return { code: 'fenced' }
  if (book.closed.has(item.id)) return { code: 'closed' }

  const key = execution.keyHash === null ? null : book.keys.get(execution.keyHash)!
  const refusal = key ? lineageRefusal(book, key) : userRefusal(execution)
  if (refusal) return { code: refusal }
  const { project } = execution
  const product = book.callableByExecutions.get(`${project} ${item.model}`)
  if (!product) return { code: 'product_not_assigned' }
  if (key?.policy === 'listed' && !key.resources.has(item.model)) return { code: 'key_scope' }

  const budgets = budgetsOf(book, key ? key.user : execution.user, key?.tag ?? null, nowMs)
  const fit = decideFit(book, { item, execution: item.execution, project, key, product, budgets }, nowMs, remaining)
  if (!('micro' in fit)) return fit
  return {
    code: 'admitted',
    key,
    idempotencyKey: null,
    fingerprint: null,
    reservation: {
      id: item.id,
      invocation: node.call,
      attempt: node.attempt,
      project,
      key: key?.id ?? '',
      lineage: key?.lineage ?? '',
      windowStartMs: fit.windowStartMs,
      product: product.id,
      instance: item.instance,
      micro: fit.micro,
      outputCap: fit.cap,
      promptTokens: fit.prompt,
      price: product.price,
      node: name,
      budgets,
    },
  }
}

function mayCall(node: NodeFacts, item: AdmitNodeItem): boolean {
  return node.lease === item.lease && (node.reservation === null || node.reservation === item.id)
}

/**
 * Rotation and expiry do not stop an execution. Revoking its key, or revoking or pausing the newest key of the lineage,
 * does (money §7.2).
 */
function lineageRefusal(book: Book, key: KeyFacts): string | null {
  const newest = [...book.keys.values()].filter(({ lineage, rotated }) => lineage === key.lineage && !rotated)
  if (key.revoked || newest.some(({ revoked }) => revoked)) return 'key_revoked'
  if (newest.some(({ paused }) => paused)) return 'key_paused'
  return key.issuerAuthorized ? null : 'key_issuer_denied'
}

function userRefusal({ userAuthorized }: ExecutionFacts): string | null {
  return userAuthorized ? null : 'not_permitted'
}
