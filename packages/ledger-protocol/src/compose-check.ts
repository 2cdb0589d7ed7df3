import { type AdmissionCheck, type AdmissionRule, admissionRules, type CheckedCall } from '@gateway/api/admission-check'
import { type LedgerRefusal, type LedgerRefusalCode, refusalFor } from './ledger-refusal.ts'
import type { CheckedAdmission } from './ledger-reads.ts'

/** Refusals with which each rule of an admission fails (rules §2.3). */
const refusalsOf = {
  key: ['key_invalid', 'key_revoked', 'key_expired', 'key_paused'],
  binding: ['key_unbound'],
  issuer: ['key_issuer_denied'],
  project: ['project_mismatch', 'tag_mismatch'],
  model: ['model_not_found'],
  allowlist: ['key_scope'],
  request: ['unsupported_parameter', 'images_unsupported', 'files_unsupported'],
  context: ['context_limit'],
  limit: ['key_limit'],
  budget: ['budget_reached'],
  wallet: ['insufficient_budget'],
} as const satisfies Record<AdmissionRule, readonly LedgerRefusalCode[]>

/**
 * Composes the answer to a check.
 * @throws Refusal that no rule covers: `unavailable`, if no call could be made now
 */
export function composeCheck(
  { model, promptSize: { counted } }: CheckedCall,
  { refusal, boundMicro, outputCap }: CheckedAdmission,
): AdmissionCheck {
  const failed = refusal === null ? admissionRules.length : admissionRules.findIndex((rule) => fails(rule, refusal))
  if (refusal !== null && failed < 0) throw refusalFor(refusal, 'chat')
  const reachesMoney = failed >= admissionRules.indexOf('limit')
  return {
    admitted: refusal === null,
    model,
    boundMicro: reachesMoney ? boundMicro : null,
    outputCap: reachesMoney ? outputCap : null,
    counted: counted !== null,
    rules: admissionRules.map((rule, n) => ({
      rule,
      outcome: n < failed ? 'pass' : n === failed ? 'fail' : 'not_reached',
    })),
    refusal: refusal && refusalFor(refusal, 'chat').body,
  }
}

/** Whether the key itself is refused: then it may not run a check either. */
export function refusesKey(refusal: LedgerRefusal): boolean {
  return (['key', 'binding', 'issuer', 'project'] as const).some((rule) => fails(rule, refusal))
}

function fails(rule: AdmissionRule, { code }: LedgerRefusal): boolean {
  return (refusalsOf[rule] as readonly LedgerRefusalCode[]).includes(code)
}
