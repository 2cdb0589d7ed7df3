import type { ProductRecord } from '@gateway/api/console/products'
import { EmptyState } from '../../components/list-states.tsx'
import type { UsedConversation } from '../data/use-conversation.ts'
import { chatLimits } from '@gateway/api/limits'
import { priceOf } from '../../catalogue/catalogue-rows.ts'
import { several, count } from '../../components/usd.ts'
import { admissibleTokens, type Entry, type TypedMessage, type Answer, type ToolCall } from '../core/conversation.ts'
import { useState, type ReactNode } from 'react'
import { Field } from '../../components/fields.tsx'
import { ShownImage } from './shown-image.tsx'
import { Link } from '@tanstack/react-router'
import { useScope } from '../../api/session.ts'
import { durationText } from '../../calls/call-columns.tsx'
import { Money } from '../../components/values.tsx'
import { CopyButton } from '../../components/copying.tsx'
import { AnswerText } from './answer-text.tsx'
import { FailedBox } from '../../components/refusal-box.tsx'

/** Messages and responses of the conversation. */
export function ChatEntries({
  used: { conversation, isStreaming, remove, changeEntry, changeAnswer },
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
      onRemove={() => remove(entry.id)}
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
                    changeAnswer(answer.id, (now) => ({
                      ...now,
                      toolCalls: now.toolCalls.map((each) => (each.id === call ? { ...each, result } : each)),
                    }))
                  }
                />
              ))}
            </div>
            <div className="buttons">
              <button
                type="button"
                className="button small quiet"
                disabled={!canSend}
                onClick={() => askFor(before(entry.id))}
              >
                {n === entries.length - 1 ? 'Try again' : 'Try again from here'}
              </button>
            </div>
          </div>
        ),
      )}
    </div>
  )
}

/** Buttons that fix the error of a response within the playground. */
function Remedies({
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

/** Typed message. It can be edited, and the conversation resent from there. */
function MessageCard({
  of: { role, text, images },
  isStreaming,
  canSend,
  onChange,
  onSend,
  onRemove,
}: {
  of: TypedMessage
  isStreaming: boolean
  canSend: boolean
  onChange: (text: string) => void
  /** Sends the edited text and drops everything after it. */
  onSend: (text: string) => void
  onRemove: () => void
}) {
  const [typed, setTyped] = useState<string | null>(null)
  const end = (act: (text: string) => void) => {
    if (typed !== null) act(typed)
    setTyped(null)
  }
  return (
    <article className={`playground-message ${role}`} aria-label={`${role} message`}>
      <h3 className="soft small">{role}</h3>
      {typed === null ? (
        <p className="playground-text">{text}</p>
      ) : (
        <Field label="Edit message">
          {(ids) => (
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user asked to edit it
            <textarea {...ids} rows={3} autoFocus value={typed} onChange={({ target }) => setTyped(target.value)} />
          )}
        </Field>
      )}
      {images.map((url, n) => (
        <ShownImage key={url} url={url} label={`Image ${n + 1}`} />
      ))}
      <div className="buttons">
        {typed === null ? (
          <>
            <button type="button" className="button small quiet" disabled={isStreaming} onClick={() => setTyped(text)}>
              Edit
            </button>
            <button type="button" className="button small quiet" disabled={isStreaming} onClick={onRemove}>
              Remove
            </button>
          </>
        ) : (
          <>
            <button type="button" className="button small main" disabled={!canSend} onClick={() => end(onSend)}>
              Send from here
            </button>
            <button type="button" className="button small" onClick={() => end(onChange)}>
              Save
            </button>
            <button type="button" className="button small" onClick={() => setTyped(null)}>
              Cancel
            </button>
          </>
        )}
      </div>
    </article>
  )
}

/** Response of a model with its timing, tokens and charge. */
function AnswerCard({
  of: answer,
  name,
  remedies,
  onResult,
}: {
  of: Answer
  /** Display name of the model. */
  name: string
  /** Buttons that fix the error. */
  remedies: ReactNode
  onResult: (id: string, result: string) => void
}) {
  const { model, text, toolCalls, refusal, state } = answer
  return (
    <article
      className="playground-message answer"
      aria-label={`Response from ${model}`}
      aria-busy={state === 'streaming'}
    >
      <h3 className="small">
        {name} <code className="soft">{model}</code>
      </h3>
      {text !== '' && <AnswerText text={text} />}
      {toolCalls.map((call) => (
        <ToolCallPart key={call.id} of={call} onResult={(result) => onResult(call.id, result)} />
      ))}
      {refusal && <FailedBox of={refusal} />}
      {remedies}
      {state === 'stopped' && (
        <p className="soft small">Stopped. The call continues to its end and is charged in full.</p>
      )}
      {state === 'lost' && (
        <p className="soft small">
          {answer.invocation === null
            ? 'The page was left before the response began. If the call was admitted, it continues to its end and is charged in full.'
            : "The call is not in this project: its charge can't be read."}
        </p>
      )}
      <AnswerFigures of={answer} />
    </article>
  )
}

function AnswerFigures({ of }: { of: Answer }) {
  const { model, text, state, invocation, firstMs, totalMs, usage, chargedMicro } = of
  const { tenant, project } = useScope()
  return (
    <div className="playground-figures small soft">
      {state === 'streaming' && firstMs === null && <span>Waiting for the first token…</span>}
      {firstMs !== null && <span>First token after {durationText(firstMs)}</span>}
      {state !== 'streaming' && totalMs !== null && <span>{durationText(totalMs)} total</span>}
      {usage && (
        <span>
          {count(usage.prompt)} input tokens, {count(usage.completion)} output
        </span>
      )}
      {state !== 'streaming' && (
        <span>
          {chargedMicro === null ? (
            `Charge ${state === 'lost' ? 'unknown' : 'pending'}`
          ) : (
            <>
              Charged <Money micro={chargedMicro} />
            </>
          )}
        </span>
      )}
      {invocation !== null && state !== 'streaming' && state !== 'lost' && (
        <Link to="/projects/$tenant/$project/calls/$call" params={{ tenant, project, call: invocation }}>
          View call
        </Link>
      )}
      {state === 'lost' && invocation === null && (
        <Link to="/projects/$tenant/$project/calls" params={{ tenant, project }} search={{ model }}>
          View calls
        </Link>
      )}
      {text !== '' && state !== 'streaming' && <CopyButton text={text} label="Copy response" isSmall />}
    </div>
  )
}

/** Tool call whose result the user types. */
function ToolCallPart({ of: call, onResult }: { of: ToolCall; onResult: (result: string) => void }) {
  return (
    <div className="stack">
      <pre className="playground-call">
        {call.name}({call.arguments})
      </pre>
      <Field label={`Result of ${call.name}`} hint="Sent with the next message.">
        {(ids) => <textarea {...ids} rows={2} value={call.result} onChange={({ target }) => onResult(target.value)} />}
      </Field>
    </div>
  )
}
