import { chatLimits } from '@gateway/api/limits'
import type { ProductRecord } from '@gateway/api/console/products'
import { priceOf } from '../../catalogue/price-of.ts'
import { several } from '../../pure/usd.ts'
import { admissibleTokens } from '../core/admissible-tokens.ts'
import type { Answer } from '../core/conversation.ts'

/** Buttons that fix the error of a response within the playground. */
export function Remedies({
  of: { model: id, maxTokens, refusal },
  models,
  canSend,
  onFewer,
  onOtherKey,
}: {
  of: Answer
  models: readonly ProductRecord[]
  canSend: boolean
  onFewer: (tokens: number) => void
  onOtherKey: () => void
}) {
  const model = models.find((each) => each.id === id)
  if (!refusal || !model) return null
  const tokens = admissibleTokens(refusal, {
    tokens: maxTokens ?? Math.min(chatLimits.maxTokens.max, model.maxOutputTokens),
    completionPico: priceOf(model.pricing).completionPico,
  })
  const isOfKey = refusal.code.startsWith('key_')
  if (tokens === null && !isOfKey) return null
  return (
    <div className="buttons">
      {tokens !== null && (
        <button type="button" className="button small main" disabled={!canSend} onClick={() => onFewer(tokens)}>
          Retry with at most {several(tokens, 'token')}
        </button>
      )}
      {isOfKey && (
        <button type="button" className="button small" onClick={onOtherKey}>
          Use another key
        </button>
      )}
    </div>
  )
}
