import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import { useScope } from '../../api/use-project.ts'
import { durationText } from '../../calls/call-labels.ts'
import { Field } from '../../components/field.tsx'
import { Money } from '../../components/money.tsx'
import { FailedBox } from '../../components/failed-box.tsx'
import { count } from '../../pure/usd.ts'
import type { Answer, ToolCall } from '../core/conversation.ts'

/** Response of a model with its timing, tokens and charge. */
export function AnswerCard({
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
      {text !== '' && <p className="playground-text">{text}</p>}
      {toolCalls.map((call) => (
        <ToolCallPart key={call.id} of={call} onResult={(result) => onResult(call.id, result)} />
      ))}
      {refusal && <FailedBox of={refusal} />}
      {remedies}
      {state === 'stopped' && (
        <p className="soft small">Stopped. The call continues to its end and is charged in full.</p>
      )}
      <AnswerFigures of={answer} />
    </article>
  )
}

function AnswerFigures({ of: { state, invocation, firstMs, totalMs, usage, chargedMicro } }: { of: Answer }) {
  const { tenant, project } = useScope()
  return (
    <p className="playground-figures small soft">
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
            'Charge pending'
          ) : (
            <>
              Charged <Money micro={chargedMicro} />
            </>
          )}
        </span>
      )}
      {invocation !== null && state !== 'streaming' && (
        <Link to="/projects/$tenant/$project/calls/$call" params={{ tenant, project, call: invocation }}>
          View call
        </Link>
      )}
    </p>
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
