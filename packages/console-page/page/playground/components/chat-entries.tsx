import type { ProductRecord } from '@gateway/api/console/products'
import { EmptyState } from '../../components/empty-state.tsx'
import type { Entry, TypedMessage } from '../core/conversation.ts'
import type { UsedConversation } from '../data/use-conversation.ts'
import { AnswerCard } from './answer-card.tsx'
import { MessageCard } from './message-card.tsx'
import { Remedies } from './remedies.tsx'

/** Messages and responses of the conversation. */
export function ChatEntries({
  used: { conversation, isStreaming, change, changeEntry, changeAnswer },
  models,
  canSend,
  askFor,
  onOtherKey,
}: {
  used: UsedConversation
  models: readonly ProductRecord[]
  canSend: boolean
  /** @param parameters parameters to change */
  askFor: (entries: Entry[], parameters?: Record<string, string>) => void
  onOtherKey: () => void
}) {
  const { entries } = conversation
  if (entries.length === 0)
    return (
      <EmptyState title="No messages yet">
        Write a message below. Responses stream in, each with its timing, tokens and charge.
      </EmptyState>
    )
  const before = (id: string) =>
    entries.slice(
      0,
      entries.findIndex((entry) => entry.id === id),
    )
  const message = (entry: TypedMessage) => (
    <MessageCard
      key={entry.id}
      of={entry}
      isStreaming={isStreaming}
      canSend={canSend}
      onChange={(text) => changeEntry(entry.id, () => ({ ...entry, text }))}
      onSend={(text) => askFor([...before(entry.id), { ...entry, text }])}
      onRemove={() => change({ entries: entries.filter(({ id }) => id !== entry.id) })}
    />
  )
  return (
    <div className="stack" role="group" aria-label="Conversation">
      {entries.map((entry, n) =>
        entry.kind === 'message' ? (
          message(entry)
        ) : (
          <div key={entry.id} className="stack">
            <div className="playground-columns">
              {entry.columns.map((answer, column) => (
                <AnswerCard
                  key={`${column} ${answer.model}`}
                  of={answer}
                  name={models.find(({ id }) => id === answer.model)?.name ?? 'Model'}
                  remedies={
                    n === entries.length - 1 && (
                      <Remedies
                        of={answer}
                        models={models}
                        canSend={canSend}
                        onFewer={(tokens) => askFor(before(entry.id), { max_tokens: String(tokens) })}
                        onOtherKey={onOtherKey}
                      />
                    )
                  }
                  onResult={(call, result) =>
                    changeAnswer(entry.id, column, (now) => ({
                      ...now,
                      toolCalls: now.toolCalls.map((each) => (each.id === call ? { ...each, result } : each)),
                    }))
                  }
                />
              ))}
            </div>
            {n === entries.length - 1 && (
              <div className="buttons">
                <button
                  type="button"
                  className="button small"
                  disabled={!canSend}
                  onClick={() => askFor(before(entry.id))}
                >
                  Try again
                </button>
              </div>
            )}
          </div>
        ),
      )}
    </div>
  )
}
